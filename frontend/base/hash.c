/* hash.c - the content hash: four 64-bit lanes, 32 bytes a step.
 *
 * A step xors each lane with 8 bytes of input, multiplies, rotates and then mixes the lanes. Every
 * part is invertible, so two inputs of one length that differ in one block never meet before the
 * final fold. The end is padded with the length and run through further steps until each input bit
 * reaches each output bit (tests/unit/test_base.c measures it). This is a hash against accidents,
 * not against an attacker: the cache that uses it trusts only files of its own user. */
#include "frontend/base/hash.h"

#include <string.h>

static uint64_t rotl(uint64_t x, int n) {
    return x << n | x >> (64 - n);
}

/* Little-endian on every machine, so that digests can be compared between them. */
static uint64_t load64(const uint8_t *p) {
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--)
        x = x << 8 | p[i];
    return x;
}

static void step(uint64_t s[4], const uint8_t block[32]) {
    s[0] = rotl((s[0] ^ load64(block)) * UINT64_C(0xd6e8feb86659fd93), 29);
    s[1] = rotl((s[1] ^ load64(block + 8)) * UINT64_C(0xa0761d6478bd642f), 31);
    s[2] = rotl((s[2] ^ load64(block + 16)) * UINT64_C(0xe7037ed1a0b428db), 33);
    s[3] = rotl((s[3] ^ load64(block + 24)) * UINT64_C(0x8ebc6af09c88c6e3), 37);
    s[0] += s[1];
    s[2] += s[3];
    s[1] ^= rotl(s[2], 17);
    s[3] ^= rotl(s[0], 41);
}

void hash_init(Hasher *h) {
    *h = (Hasher){.state = {UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344),
                            UINT64_C(0xa4093822299f31d0), UINT64_C(0x082efa98ec4e6c89)}};
}

void hash_update(Hasher *h, const void *bytes, size_t len) {
    const uint8_t *p = bytes;
    h->total += len;
    while (len) {
        if (h->npending == 0 && len >= 32) {
            step(h->state, p);
            p += 32, len -= 32;
            continue;
        }
        size_t n = QN_MIN(len, (size_t)(32 - h->npending));
        memcpy(h->pending + h->npending, p, n);
        h->npending += (uint32_t)n;
        p += n, len -= n;
        if (h->npending == 32) {
            step(h->state, h->pending);
            h->npending = 0;
        }
    }
}

void hash_u64(Hasher *h, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    hash_update(h, bytes, sizeof bytes);
}

Hash128 hash_final(const Hasher *h) {
    uint64_t s[4];
    memcpy(s, h->state, sizeof s);
    uint8_t last[32] = {0};
    memcpy(last, h->pending, h->npending);
    step(s, last);
    uint8_t length[32] = {0};
    for (int i = 0; i < 8; i++)
        length[i] = length[8 + i] = (uint8_t)(h->total >> (8 * i));
    step(s, length);
    const uint8_t zero[32] = {0};
    for (int i = 0; i < 6; i++)
        step(s, zero);
    return (Hash128){hash_mix(s[0] ^ rotl(s[3], 23)) + s[2],
                     hash_mix(s[1] ^ rotl(s[2], 47)) + s[3]};
}

Hash128 hash_bytes(const void *bytes, size_t len) {
    Hasher h;
    hash_init(&h);
    hash_update(&h, bytes, len);
    return hash_final(&h);
}
