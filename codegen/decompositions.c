/* decompositions.c - calls LAPACK: see decompositions.h.
 *
 * Each routine is called twice: it is asked how much room it needs, and then it works. Where LAPACK has another parameter
 * for complex numbers, there is another type of function. */
#include "codegen/decompositions.h"
#include "codegen/blas.h"
#include "codegen/product.h"
#include <complex.h>
#include <stdlib.h>
#include <string.h>

typedef const int64_t *Int;

/* One decomposition: its arguments, and room for the routine. */
typedef struct Job {
    const Blas *blas;
    BlasKind kind;
    int64_t m, n, flag;
    void *a, *b, *c, *d;
    int64_t rank;
    int64_t reals, ints; /* room it needs and does not tell */
    /* room and how much of it; -1: the question */
    void *work, *real;
    int64_t *whole;
    int64_t lwork, lreal, lwhole;
    int64_t info;
} Job;

typedef void (*Routine)(Job *job);

static bool is_complex(const Job *job) {
    return job->kind >= BLAS_C64;
}
static bool is_single(const Job *job) {
    return job->kind == BLAS_F32 || job->kind == BLAS_C64;
}
static size_t real_size(const Job *job) {
    return is_single(job) ? sizeof(float) : sizeof(double);
}
static size_t number_size(const Job *job) {
    return real_size(job) * (is_complex(job) ? 2 : 1);
}

static double real_at(const Job *job, const void *from, int64_t i) {
    return is_single(job) ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* What the library wrote as an int. */
static int64_t written(const Job *job, const void *from) {
    return job->blas->wide ? *(const int64_t *)from : *(const int32_t *)from;
}

static void *room(int64_t n, size_t size) {
    return malloc((size_t)most(n, 1) * size);
}

/* Asks, makes room, and works. */
static int64_t run_with(Job *job, Routine routine) {
    double work[2] = {0}, real[2] = {0};
    int64_t whole[2] = {0};
    job->work = work, job->real = real, job->whole = whole;
    job->lwork = job->lreal = job->lwhole = -1;
    job->info = 0;
    routine(job);
    if (written(job, &job->info)) return DECOMPOSE_FAILED;
    job->lwork = (int64_t)real_at(job, work, 0) + 1;
    job->lreal = most(job->reals, (int64_t)real_at(job, real, 0) + 1);
    job->lwhole = most(job->ints, written(job, whole));
    job->work = room(job->lwork, number_size(job));
    job->real = room(job->lreal, real_size(job));
    job->whole = room(job->lwhole, sizeof *job->whole);
    bool fits = job->work && job->real && job->whole;
    job->info = 0;
    if (fits) routine(job);
    free(job->work);
    free(job->real);
    free(job->whole);
    if (!fits) return DECOMPOSE_NO_MEMORY;
    return written(job, &job->info) ? DECOMPOSE_FAILED : DECOMPOSE_DONE;
}

/* With the library, where there is one that can count so far. */
static int64_t run(Job *job, int64_t kind, Routine routine) {
    const Blas *blas = blas_get();
    if (!blas || !blas->has_decompositions || !blas_fits(blas, job->m) ||
        !blas_fits(blas, job->n) || !blas_fits(blas, job->flag))
        return DECOMPOSE_NO_LIBRARY;
    job->blas = blas;
    job->kind = (BlasKind)(BLAS_F32 + (kind - PRODUCT_F32));
    return run_with(job, routine);
}

static LapackAny function_of(const Job *job, LapackRoutine routine) {
    return job->blas->decompose[routine][job->kind];
}

/* -- singular values ------------------------------------------------------------------------------------------ */

typedef void (*Gesdd)(const char *jobz, Int m, Int n, void *a, Int lda, void *s, void *u, Int ldu,
                      void *vt, Int ldvt, void *work, Int lwork, int64_t *iwork, int64_t *info);
typedef void (*GesddComplex)(const char *jobz, Int m, Int n, void *a, Int lda, void *s, void *u,
                             Int ldu, void *vt, Int ldvt, void *work, Int lwork, void *rwork,
                             int64_t *iwork, int64_t *info);

static void call_gesdd(Job *j) {
    const char *what = j->flag == 2 ? "A" : j->flag == 1 ? "S" : "N";
    int64_t rows = j->flag == 1 ? least(j->m, j->n) : j->n;
    LapackAny f = function_of(j, LAPACK_GESDD);
    if (is_complex(j))
        ((GesddComplex)f)(what, &j->m, &j->n, j->a, &j->m, j->b, j->c, &j->m, j->d, &rows, j->work,
                          &j->lwork, j->real, j->whole, &j->info);
    else
        ((Gesdd)f)(what, &j->m, &j->n, j->a, &j->m, j->b, j->c, &j->m, j->d, &rows, j->work,
                   &j->lwork, j->whole, &j->info);
}

int64_t quern_svd(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *s, void *u,
                  void *vh) {
    int64_t k = least(m, n), more = most(m, n);
    Job job = {.m = m, .n = n, .flag = flag, .a = a, .b = s, .c = u, .d = vh};
    job.ints = 8 * k;
    job.reals = flag ? most(5 * k * k + 5 * k, 2 * more * k + 2 * k * k + k) : 7 * k;
    return run(&job, kind, call_gesdd);
}

/* -- eigenvalues ------------------------------------------------------------------------------------------------ */

typedef void (*Geev)(const char *jobvl, const char *jobvr, Int n, void *a, Int lda, void *wr,
                     void *wi, void *vl, Int ldvl, void *vr, Int ldvr, void *work, Int lwork,
                     int64_t *info);
typedef void (*GeevComplex)(const char *jobvl, const char *jobvr, Int n, void *a, Int lda, void *w,
                            void *vl, Int ldvl, void *vr, Int ldvr, void *work, Int lwork,
                            void *rwork, int64_t *info);

/* For floats `b` has the real parts of the eigenvalues, behind them the imaginary ones, and `c` pairs of columns. */
static void call_geev(Job *j) {
    const char *vectors = j->flag ? "V" : "N";
    LapackAny f = function_of(j, LAPACK_GEEV);
    void *second = (char *)j->b + (size_t)j->n * real_size(j);
    if (is_complex(j))
        ((GeevComplex)f)("N", vectors, &j->n, j->a, &j->n, j->b, j->c, &j->n, j->c, &j->n, j->work,
                         &j->lwork, j->real, &j->info);
    else
        ((Geev)f)("N", vectors, &j->n, j->a, &j->n, j->b, second, j->c, &j->n, j->c, &j->n, j->work,
                  &j->lwork, &j->info);
}

static void set_complex(const Job *job, void *to, int64_t i, double re, double im) {
    if (is_single(job))
        ((float *)to)[2 * i] = (float)re, ((float *)to)[2 * i + 1] = (float)im;
    else
        ((double *)to)[2 * i] = re, ((double *)to)[2 * i + 1] = im;
}

/* Complex numbers of what LAPACK gives for floats: of two conjugate eigenvalues the vector stands in two columns, real and
 * imaginary parts. */
static void eig_as_complex(const Job *job, void *w, void *v) {
    int64_t n = job->n;
    for (int64_t j = 0; j < n; j++) {
        double im = real_at(job, job->b, n + j);
        set_complex(job, w, j, real_at(job, job->b, j), im);
        if (!job->flag) continue;
        bool second = im < 0 && j > 0;
        for (int64_t i = 0; i < n; i++) {
            double first = real_at(job, job->c, (second ? j - 1 : j) * n + i);
            double part = 0;
            if (second || (im > 0 && j + 1 < n))
                part = real_at(job, job->c, (second ? j : j + 1) * n + i);
            set_complex(job, v, j * n + i, first, second ? -part : part);
        }
    }
}

int64_t quern_eig(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *w, void *v,
                  void *unused) {
    (void)unused;
    Job job = {.m = m, .n = n, .flag = flag, .a = a, .b = w, .c = v};
    job.reals = 2 * n;
    if (kind == PRODUCT_C64 || kind == PRODUCT_C128) return run(&job, kind, call_geev);
    size_t size = kind == PRODUCT_F32 ? sizeof(float) : sizeof(double);
    job.b = room(2 * n, size);
    job.c = room(flag ? n * n : 1, size);
    int64_t status = DECOMPOSE_NO_MEMORY;
    if (job.b && job.c) status = run(&job, kind, call_geev);
    if (status == DECOMPOSE_DONE) eig_as_complex(&job, w, v);
    free(job.b);
    free(job.c);
    return status;
}

typedef void (*Syevd)(const char *jobz, const char *uplo, Int n, void *a, Int lda, void *w,
                      void *work, Int lwork, int64_t *iwork, Int liwork, int64_t *info);
typedef void (*Heevd)(const char *jobz, const char *uplo, Int n, void *a, Int lda, void *w,
                      void *work, Int lwork, void *rwork, Int lrwork, int64_t *iwork, Int liwork,
                      int64_t *info);

static void call_syevd(Job *j) {
    const char *vectors = j->flag & 1 ? "V" : "N", *triangle = j->flag & 2 ? "U" : "L";
    LapackAny f = function_of(j, LAPACK_SYEVD);
    if (is_complex(j))
        ((Heevd)f)(vectors, triangle, &j->n, j->a, &j->n, j->b, j->work, &j->lwork, j->real,
                   &j->lreal, j->whole, &j->lwhole, &j->info);
    else
        ((Syevd)f)(vectors, triangle, &j->n, j->a, &j->n, j->b, j->work, &j->lwork, j->whole,
                   &j->lwhole, &j->info);
}

int64_t quern_eigh(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *w, void *unused,
                   void *unused2) {
    (void)unused, (void)unused2;
    Job job = {.m = m, .n = n, .flag = flag, .a = a, .b = w};
    return run(&job, kind, call_syevd);
}

/* -- QR --------------------------------------------------------------------------------------------------------- */

typedef void (*Geqrf)(Int m, Int n, void *a, Int lda, void *tau, void *work, Int lwork,
                      int64_t *info);
typedef void (*Orgqr)(Int m, Int n, Int k, void *a, Int lda, void *tau, void *work, Int lwork,
                      int64_t *info);

static void call_geqrf(Job *j) {
    ((Geqrf)function_of(j, LAPACK_GEQRF))(&j->m, &j->n, j->a, &j->m, j->b, j->work, &j->lwork,
                                          &j->info);
}
static void call_orgqr(Job *j) {
    ((Orgqr)function_of(j, LAPACK_ORGQR))(&j->m, &j->n, &j->flag, j->a, &j->m, j->b, j->work,
                                          &j->lwork, &j->info);
}

int64_t quern_qr(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *tau, void *unused,
                 void *unused2) {
    (void)unused, (void)unused2;
    Job job = {.m = m, .n = n, .flag = flag, .a = a, .b = tau};
    return run(&job, kind, call_geqrf);
}
int64_t quern_q(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *tau, void *unused,
                void *unused2) {
    (void)unused, (void)unused2;
    Job job = {.m = m, .n = n, .flag = flag, .a = a, .b = tau};
    return run(&job, kind, call_orgqr);
}

/* -- least squares ------------------------------------------------------------------------------------------------ */

typedef void (*Gelsd)(Int m, Int n, Int nrhs, void *a, Int lda, void *b, Int ldb, void *s,
                      const void *rcond, int64_t *rank, void *work, Int lwork, int64_t *iwork,
                      int64_t *info);
typedef void (*GelsdComplex)(Int m, Int n, Int nrhs, void *a, Int lda, void *b, Int ldb, void *s,
                             const void *rcond, int64_t *rank, void *work, Int lwork, void *rwork,
                             int64_t *iwork, int64_t *info);

static void call_gelsd(Job *j) {
    int64_t rows = most(j->m, j->n);
    LapackAny f = function_of(j, LAPACK_GELSD);
    if (is_complex(j))
        ((GelsdComplex)f)(&j->m, &j->n, &j->flag, j->a, &j->m, j->b, &rows, j->c, j->d, &j->rank,
                          j->work, &j->lwork, j->real, j->whole, &j->info);
    else
        ((Gelsd)f)(&j->m, &j->n, &j->flag, j->a, &j->m, j->b, &rows, j->c, j->d, &j->rank, j->work,
                   &j->lwork, j->whole, &j->info);
}

int64_t quern_lstsq(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *b, void *s,
                    void *rcond) {
    Job job = {.m = m, .n = n, .flag = flag, .a = a, .b = b, .c = s, .d = rcond};
    int64_t status = run(&job, kind, call_gelsd);
    return status == DECOMPOSE_DONE ? written(&job, &job.rank) : status;
}
