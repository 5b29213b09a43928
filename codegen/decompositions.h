/* decompositions.h - singular values, eigenvalues, QR and least squares, which compiled host code calls: over the LAPACK of
 * the library that blas.h found. There are no loops of our own for them.
 *
 * All take the same arguments. `kind` is a ProductKind of floats or complex numbers; `a` has m rows and n columns. Matrices are
 * stored column by column without gaps, those that are read are overwritten, and none is empty. "Real" numbers are floats as wide as
 * the parts of a number. The result is a DecomposeStatus, or what is said below. */
#ifndef QUERN_DECOMPOSITIONS_H
#define QUERN_DECOMPOSITIONS_H

#include <stdint.h>

typedef enum DecomposeStatus {
    DECOMPOSE_DONE = 0,
    DECOMPOSE_NO_MEMORY = -1,
    DECOMPOSE_NO_LIBRARY = -2,
    DECOMPOSE_FAILED = -3 /* it did not converge */
} DecomposeStatus;

/* s = singular values, real. flag 1: u[m, k] and vh[k, n] with k the less of m and n; 2: u[m, m] and vh[n, n]; 0: neither. */
int64_t quern_svd(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *s, void *u,
                  void *vh);
/* w[n] = eigenvalues, complex; flag 1: v[n, n] = eigenvectors, complex, as columns. */
int64_t quern_eig(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *w, void *v,
                  void *unused);
/* w[n] = eigenvalues of a matrix that is its own conjugate transpose, real, of which the lower triangle is read, or with flag
 * 2 the upper one; flag 1: a = eigenvectors as columns. Flags are added. */
int64_t quern_eigh(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *w, void *unused,
                   void *unused2);
/* a = R, above, and reflectors, below the diagonal, with their factors tau[min(m, n)]. */
int64_t quern_qr(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *tau, void *unused,
                 void *unused2);
/* The first n columns of Q, of which the first `flag` are made of the reflectors of quern_qr. */
int64_t quern_q(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *tau, void *unused,
                void *unused2);
/* b[max(m, n), flag] = the shortest x for which |a @ x - b| is least, in its first n rows; s[min(m, n)] = singular values of a, those
 * not above rcond[0] of the first count as 0. The result is the rank of a, below 0 a status. */
int64_t quern_lstsq(int64_t kind, int64_t m, int64_t n, int64_t flag, void *a, void *b, void *s,
                    void *rcond);

#endif
