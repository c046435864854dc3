/* The language of the kernels: CUDA, as NVRTC compiles it, or plain C++, in which one thread stands in for all.
 *
 * Comes first in the translation unit, which includes nothing from the system, because NVRTC has no C library.
 * Functions of the model have no qualifiers; a compiler option makes them device functions. */
#ifndef OUTCROP_DEVICE_H
#define OUTCROP_DEVICE_H

typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;

#define UINT64_C(number) number##ull
#define INT64_C(number) number##ll
#define INT64_MAX INT64_C(0x7fffffffffffffff)
#define INT64_MIN (-INT64_MAX - 1)
#define __extension__

#ifdef __CUDACC__

/* --- CUDA ---------------------------------------------------------------------------------------------------- */

#define KERNEL extern "C" __global__ void
#define LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define SHARED __shared__
#define CONSTANT(declaration) extern "C" { __constant__ declaration; }
#define THREAD threadIdx.x
#define THREADS blockDim.x
#define BLOCK blockIdx.x
#define BLOCKS gridDim.x
#define ROW blockIdx.y
#define UNROLL _Pragma("unroll")
#define ALIGNED __align__(16)
#define __builtin_memcpy memcpy
#define __builtin_memset memset

#ifndef FAT
#define inline __forceinline__
#endif

static __device__ __forceinline__ void synchronise() { __syncthreads(); }
static __device__ __forceinline__ bool any_of_block(bool condition) { return __syncthreads_or(condition); }
static __device__ __forceinline__ void fence() { __threadfence(); }
static __device__ __forceinline__ uint64_t multiply_high(uint64_t a, uint64_t b) { return __umul64hi(a, b); }
static __device__ __forceinline__ uint32_t shift_pair(uint32_t low, uint32_t high, uint32_t count) {
  return __funnelshift_r(low, high, count);
}
static __device__ __forceinline__ void add_shared(uint32_t *counter, uint32_t times) { atomicAdd(counter, times); }
static __device__ __forceinline__ uint64_t add_global(uint64_t *counter, uint64_t times) {
  return atomicAdd(counter, times);
}
static __device__ __forceinline__ void most_global(uint64_t *counter, uint64_t value) { atomicMax(counter, value); }
static __device__ __forceinline__ void or_global(uint64_t *flags, uint64_t bits) { atomicOr(flags, bits); }
static __device__ __forceinline__ uint64_t exchange_if(uint64_t *slot, uint64_t expected, uint64_t entry) {
  return atomicCAS(slot, expected, entry);
}
/* Bypasses the first-level cache, which may be stale with respect to other multiprocessors. */
static __device__ __forceinline__ uint64_t load_shared_word(const uint64_t *at) { return __ldcg(at); }
static __device__ __forceinline__ void store_shared_word(uint64_t *at, uint64_t word) { __stcg(at, word); }

/* Loads four words, 32 aligned bytes, at once. */
static __device__ __forceinline__ void load_four(const uint64_t *at, uint64_t *words) {
  const ulonglong2 first = __ldcg((const ulonglong2 *)at), second = __ldcg((const ulonglong2 *)at + 1);
  words[0] = first.x, words[1] = first.y, words[2] = second.x, words[3] = second.y;
}

/* Adds the `wanted` of all threads of the block to a counter, with one atomic operation. Returns the start of this
 * thread's share. All threads must call it. */
static __device__ __forceinline__ uint64_t claim(uint64_t *counter, uint32_t wanted) {
  __shared__ uint32_t of_warp[32];
  __shared__ uint64_t first;
  if (!__syncthreads_or(wanted != 0)) return 0;
  const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  uint32_t until = wanted;
  for (uint32_t step = 1; step < 32; step *= 2) {
    const uint32_t other = __shfl_up_sync(~0u, until, step);
    if (lane >= step) until += other;
  }
  if (lane == 31) of_warp[warp] = until;
  __syncthreads();
  if (warp == 0) {
    uint32_t sum = lane < warps ? of_warp[lane] : 0;
    const uint32_t own = sum;
    for (uint32_t step = 1; step < 32; step *= 2) {
      const uint32_t other = __shfl_up_sync(~0u, sum, step);
      if (lane >= step) sum += other;
    }
    if (lane < warps) of_warp[lane] = sum - own;
    if (lane == 31) first = atomicAdd(counter, (unsigned long long)sum);
  }
  __syncthreads();
  return first + of_warp[warp] + until - wanted;
}

static __device__ __forceinline__ int __builtin_ctzll(uint64_t word) { return __ffsll((long long)word) - 1; }
static __device__ __forceinline__ int __builtin_popcountll(uint64_t word) { return __popcll(word); }
static __device__ __forceinline__ int __builtin_add_overflow(int64_t a, int64_t b, int64_t *sum) {
  *sum = (int64_t)((uint64_t)a + (uint64_t)b);
  return ((a ^ *sum) & (b ^ *sum)) < 0;
}
static __device__ __forceinline__ int __builtin_sub_overflow(int64_t a, int64_t b, int64_t *difference) {
  *difference = (int64_t)((uint64_t)a - (uint64_t)b);
  return ((a ^ b) & (a ^ *difference)) < 0;
}
static __device__ __forceinline__ int __builtin_mul_overflow(int64_t a, int64_t b, int64_t *product) {
  *product = (int64_t)((uint64_t)a * (uint64_t)b);
  return __mul64hi(a, b) != *product >> 63;
}

#else

/* --- One thread ---------------------------------------------------------------------------------------------- */

#define KERNEL extern "C" __attribute__((visibility("default"))) void
#define LAUNCH_BOUNDS(threads, blocks)
#define SHARED
#define CONSTANT(declaration) extern "C" { __attribute__((visibility("default"))) declaration; }
#define THREAD 0u
#define THREADS 1u
#define BLOCK 0u
#define BLOCKS 1u
#define ROW outcrop_row
#define UNROLL
#define ALIGNED __attribute__((aligned(16)))

/* The second index of a block. Kernels are called once for each. */
extern "C" {
__attribute__((visibility("default"))) uint32_t outcrop_row = 0;
}

static inline void synchronise() {}
static inline bool any_of_block(bool condition) { return condition; }
static inline void fence() {}
static inline uint64_t multiply_high(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }
static inline uint32_t shift_pair(uint32_t low, uint32_t high, uint32_t count) {
  return (uint32_t)(((uint64_t)high << 32 | low) >> (count & 31));
}
static inline void add_shared(uint32_t *counter, uint32_t times) { *counter += times; }
static inline uint64_t add_global(uint64_t *counter, uint64_t times) { return (*counter += times) - times; }
static inline void most_global(uint64_t *counter, uint64_t value) {
  if (*counter < value) *counter = value;
}
static inline void or_global(uint64_t *flags, uint64_t bits) { *flags |= bits; }
static inline uint64_t exchange_if(uint64_t *slot, uint64_t expected, uint64_t entry) {
  const uint64_t before = *slot;
  if (before == expected) *slot = entry;
  return before;
}
static inline uint64_t load_shared_word(const uint64_t *at) { return *at; }
static inline void store_shared_word(uint64_t *at, uint64_t word) { *at = word; }
static inline void load_four(const uint64_t *at, uint64_t *words) {
  for (int i = 0; i < 4; i++) words[i] = at[i];
}
static inline uint64_t claim(uint64_t *counter, uint32_t wanted) { return add_global(counter, wanted); }

#endif

#define likely(condition) (condition)
#define unlikely(condition) (condition)

#endif
