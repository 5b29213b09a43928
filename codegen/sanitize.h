/* sanitize.h - QUERN_SANITIZE: what kernels on the cpu device tell of their accesses, and what is wrong with these.
 *
 * Generated code calls quern_sanitize_item when a work-item goes on, and quern_sanitize_access for each element of global or
 * shared memory. Nothing is stopped: the first thing that is found is kept, and the launch asks for it when it is over. */
#ifndef QUERN_SANITIZE_H
#define QUERN_SANITIZE_H

#include "codegen/artifact.h"

enum SanitizeBits { SANITIZE_RACE = 1, SANITIZE_UNINIT = 2, SANITIZE_BARRIER = 4 };
enum SanitizeAccess { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC };

extern const LaunchWatch sanitizer_watch;
/* The threads of a block wait at two barriers, at these sites. */
void sanitizer_divergent(int32_t site, const uint32_t *thread, int32_t other_site,
                         const uint32_t *other_thread);
/* Which barriers order the accesses to come: of the grid, of the block, operations of the warp that the item took part in. */
void sanitizer_epoch(uint32_t grid, uint32_t block, uint32_t warp);
/* Is this thread between enter and leave of a launch? With these bits. */
uint32_t sanitizer_active(void);

/* Called by generated code, the first by the scheduler of work-items, too. */
void quern_sanitize_item(uint32_t block_x, uint32_t block_y, uint32_t block_z, uint32_t thread_x,
                         uint32_t thread_y, uint32_t thread_z);
void quern_sanitize_access(void *address, int32_t bytes, int32_t access, int32_t site);
void quern_sanitize_fence(void); /* a fence that other blocks see */

#endif
