// BERTH_VECTOR_CLONES, in front of a function: its loops become the widest vector code that the
// machine at hand has; which one is found out when the program starts. For plain loops over columns
// of numbers. The results are the same bits everywhere: no operation is fused or reordered.
#pragma once

// The thread sanitizer is not up yet when the choice is made.
#if defined(__SANITIZE_THREAD__)
#define BERTH_VECTOR_CLONES
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BERTH_VECTOR_CLONES
#endif
#endif

#if !defined(BERTH_VECTOR_CLONES)
#if defined(__x86_64__)
#define BERTH_VECTOR_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define BERTH_VECTOR_CLONES
#endif
#endif
