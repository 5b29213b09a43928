/* The part of HIP's binary interface that the stand-in offers: our own declarations, so that no ROCm is needed. */
#ifndef FAKEHIP_HIP_ABI_H
#define FAKEHIP_HIP_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int HipResult;

/* Number, name after "hipError" and, since ROCm 6, the sentence. */
#define HIP_ERRORS(ROW)                                                                            \
    ROW(InvalidValue, 1, "invalid argument")                                                       \
    ROW(OutOfMemory, 2, "out of memory")                                                           \
    ROW(NotInitialized, 3, "initialization error")                                                 \
    ROW(Deinitialized, 4, "driver shutting down")                                                  \
    ROW(InvalidConfiguration, 9, "invalid configuration argument")                                 \
    ROW(InvalidDevicePointer, 17, "invalid device pointer")                                        \
    ROW(InvalidDeviceFunction, 98, "invalid device function")                                      \
    ROW(NoDevice, 100, "no ROCm-capable device is detected")                                       \
    ROW(InvalidDevice, 101, "invalid device ordinal")                                              \
    ROW(InvalidImage, 200, "device kernel image is invalid")                                       \
    ROW(InvalidContext, 201, "invalid device context")                                             \
    ROW(NoBinaryForGpu, 209, "no kernel image is available for execution on the device")           \
    ROW(FileNotFound, 301, "file not found")                                                       \
    ROW(InvalidHandle, 400, "invalid resource handle")                                             \
    ROW(NotFound, 500, "named symbol not found")                                                   \
    ROW(NotReady, 600, "device not ready")                                                         \
    ROW(IllegalAddress, 700, "an illegal memory access was encountered")                           \
    ROW(LaunchOutOfResources, 701, "out of resources")                                             \
    ROW(LaunchTimeOut, 702, "the launch timed out and was terminated")                             \
    ROW(LaunchFailure, 719, "unspecified launch failure")                                          \
    ROW(CooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                   \
    ROW(NotSupported, 801, "operation not supported")                                              \
    ROW(Unknown, 999, "unknown error")                                                             \
    ROW(RuntimeMemory, 1052, "runtime memory call returned error")                                 \
    ROW(RuntimeOther, 1053, "runtime call other than memory returned error")

enum {
    HIP_Success = 0,
#define HIP_ERROR_ENUM(name, code, text) HIP_##name = code,
    HIP_ERRORS(HIP_ERROR_ENUM)
#undef HIP_ERROR_ENUM
};

enum { LAUNCH_BUFFER = 1, LAUNCH_BUFFER_SIZE = 2, LAUNCH_END = 3 };

/* hipDeviceProp_t until ROCm 5. */
typedef struct OlderProperties {
    char name[256];
    size_t memory, lds;
    int registers, wave, max_threads, max_block[3], max_grid[3], clock, memory_clock, bus_width;
    size_t constants;
    int major, minor, processors, l2, threads_per_processor, compute_mode, timer_clock;
    unsigned arch_flags;
    int concurrent, pci_domain, pci_bus, pci_device;
    size_t lds_per_processor;
    int multi_board, map_host, gcn_number;
    char gcn_name[256];
    int integrated, cooperative, cooperative_multi, textures[7];
    void *flush[2];
    size_t pitch, texture_align, texture_pitch;
    int timeout, ecc, tcc, unmatched[4], large_bar, revision, managed, direct_managed,
        concurrent_managed, pageable, pageable_tables;
} OlderProperties;

/* Since ROCm 6. */
typedef struct NewerProperties {
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t memory, lds;
    int registers, wave;
    size_t pitch;
    int max_threads, max_block[3], max_grid[3], clock;
    size_t constants;
    int major, minor;
    size_t texture_align, texture_pitch;
    int overlap, processors, timeout, integrated, map_host, compute_mode, textures[40];
    size_t surface_align;
    int concurrent, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified, memory_clock,
        bus_width, l2, persisting_l2, threads_per_processor, priorities, l1[2];
    size_t lds_per_processor;
    int registers_per_processor, managed, multi_board[2], native_atomics, double_ratio, pageable,
        concurrent_managed, preemption, registered_pointers, cooperative, cooperative_multi;
    size_t lds_optin;
    int pageable_tables, direct_managed, blocks_per_processor, window;
    size_t reserved_lds;
    int more[13], reserved[63], hip_reserved[32];
    char gcn_name[256];
    size_t max_lds_per_processor;
    int timer_clock;
    unsigned arch_flags;
    void *flush[2];
    int unmatched[4], large_bar, revision;
} NewerProperties;

_Static_assert(sizeof(OlderProperties) == 792, "hipDeviceProp_t of ROCm 5");
_Static_assert(sizeof(NewerProperties) == 1472, "hipDeviceProp_t of ROCm 6");

#endif
