/* instances.c - the list of instances of the process. */
#include "codegen/instances.h"
#include "codegen/codegen.h"
#include "codegen/host_code.h"
#include "codegen/worker.h"
#include <pthread.h>
#include <stdlib.h>

typedef enum InstanceState { EMPTY, MAKING, MADE } InstanceState;

struct Instance {
    Instance *next;
    Instance *older, *newer; /* those that nothing calls any more, as long as they are kept */
    Hash128 key;
    int64_t refs;
    InstanceState state;
    uint32_t process; /* MAKING: worker_generation() of whoever makes it */
    HostCode *code;
    void *address;
    InstanceParts parts;
    char *memory; /* of the parts */
};

/* Guarded by the lock; what is MADE changes no more. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static Instance *first;
static int64_t total, alive, from_disk;

/* A function that is defined again, or the next one that calls `np.sort`, finds what its forerunner has left: the last ones that nothing
 * calls are kept, up to so many, and so many bytes of object files. */
enum { KEPT_MOST = 512, KEPT_BYTES = 16 << 20 };
static Instance *newest, *oldest; /* MADE, refs 0 */
static int64_t nkept;
static size_t kept_bytes;

/* In the child of a fork that came while another thread held the lock: the list can be walked at every step of a change. */
static void after_fork(void) {
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&changed, NULL);
}

static void install(void) {
    pthread_atfork(NULL, NULL, after_fork);
}

static Instance *find(Hash128 key) {
    Instance *at = first;
    while (at && !hash_equal(at->key, key))
        at = at->next;
    return at;
}

static Instance *add(Hash128 key) {
    Instance *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    *made = (Instance){.next = first, .key = key};
    first = made;
    return made;
}

static void keep(Instance *instance) {
    instance->older = newest;
    instance->newer = NULL;
    *(newest ? &newest->newer : &oldest) = instance;
    newest = instance;
    nkept++;
    kept_bytes += instance->parts.size;
}

static void keep_no_more(Instance *instance) {
    *(instance->newer ? &instance->newer->older : &newest) = instance->older;
    *(instance->older ? &instance->older->newer : &oldest) = instance->newer;
    instance->older = instance->newer = NULL;
    nkept--;
    kept_bytes -= instance->parts.size;
}

Instance *instance_get(Hash128 key, bool *make) {
    pthread_once(&once, install);
    uint32_t now = worker_generation();
    pthread_mutex_lock(&lock);
    Instance *found = find(key);
    if (!found) found = add(key);
    if (found && found->refs++ == 0 && found->state == MADE) {
        keep_no_more(found);
        alive++;
    }
    while (found && found->state == MAKING && found->process == now)
        pthread_cond_wait(&changed, &lock);
    *make =
        found && found->state != MADE; /* EMPTY, or made by a thread that a fork has left behind */
    if (*make) {
        found->state = MAKING;
        found->process = now;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

Instance *instance_find(Hash128 key) {
    pthread_mutex_lock(&lock);
    Instance *found = find(key);
    if (found && found->state != MADE) found = NULL;
    if (found && found->refs++ == 0) {
        keep_no_more(found);
        alive++;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* One block: addresses, instances, the object file, texts. */
static char *copy_parts(InstanceParts *to, const InstanceParts *from) {
    size_t addresses = sizeof *from->addresses * (size_t)from->naddresses;
    size_t needs = sizeof *from->needs * (size_t)from->nneeds, name = strlen(from->symbol) + 1;
    size_t texts = 0;
    for (int32_t i = 0; i < from->naddresses; i++)
        texts += (size_t)from->addresses[i].text.len;
    char *memory = malloc(addresses + needs + from->size + name + texts + 1), *at = memory;
    if (!memory) return NULL;
    *to = *from;
    CodeAddress *copies =
        memcpy(at, from->addresses ? (const void *)from->addresses : "", addresses);
    to->addresses = copies;
    to->needs = memcpy(at += addresses, from->needs ? (const void *)from->needs : "", needs);
    to->object = memcpy(at += needs, from->object, from->size);
    to->symbol = memcpy(at += from->size, from->symbol, name);
    at += name;
    for (int32_t i = 0; i < from->naddresses; i++) {
        Str *text = &copies[i].text;
        if (text->len) text->bytes = memcpy(at, text->bytes, (size_t)text->len);
        at += text->len;
    }
    return memory;
}

bool instance_made(Instance *instance, HostCode *code, void *address, const InstanceParts *parts) {
    instance->memory = copy_parts(&instance->parts, parts); /* nobody looks at it yet */
    if (!instance->memory) return false;
    pthread_mutex_lock(&lock);
    instance->code = code;
    instance->address = address;
    instance->state = MADE;
    total++;
    from_disk += parts->read;
    alive++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return true;
}

void instance_failed(Instance *instance) {
    pthread_mutex_lock(&lock);
    instance->state = EMPTY;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    instance_release(instance);
}

/* Only of what is held already. */
void instance_hold(Instance *instance) {
    pthread_mutex_lock(&lock);
    instance->refs++;
    pthread_mutex_unlock(&lock);
}

static void take_off_list(Instance *instance) {
    Instance **at = &first;
    while (*at != instance)
        at = &(*at)->next;
    *at = instance->next;
}

/* Its code may hold others: it goes without the lock. */
static void destroy(Instance *instance) {
    host_code_drop(instance->code);
    free(instance->memory);
    free(instance);
}

/* The oldest that is kept beyond what may be, off all lists; NULL: none. */
static Instance *take_surplus(int64_t most, size_t bytes) {
    pthread_mutex_lock(&lock);
    Instance *surplus = nkept > most || kept_bytes > bytes ? oldest : NULL;
    if (surplus) {
        keep_no_more(surplus);
        take_off_list(surplus);
    }
    pthread_mutex_unlock(&lock);
    return surplus;
}

static void drop_surplus(int64_t most, size_t bytes) {
    for (Instance *surplus; (surplus = take_surplus(most, bytes));)
        destroy(surplus);
}

void instance_release(Instance *instance) {
    pthread_mutex_lock(&lock);
    bool last = --instance->refs == 0, made = instance->state == MADE;
    if (last && made) {
        alive--;
        keep(instance);
    } else if (last) {
        take_off_list(instance);
    }
    pthread_mutex_unlock(&lock);
    if (last && !made) destroy(instance);
    if (last && made) drop_surplus(KEPT_MOST, KEPT_BYTES);
}

void cg_drop_instances(void) {
    drop_surplus(0, 0);
}

Hash128 instance_key(const Instance *instance) {
    return instance->key;
}

void *instance_address(const Instance *instance) {
    return instance->address;
}

HostCode *instance_code(const Instance *instance) {
    return instance->code;
}

const InstanceParts *instance_parts(const Instance *instance) {
    return &instance->parts;
}

void cg_count_instances(int64_t *made, int64_t *live, int64_t *read) {
    pthread_mutex_lock(&lock);
    *made = total;
    *live = alive;
    *read = from_disk;
    pthread_mutex_unlock(&lock);
}
