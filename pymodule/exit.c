/* exit.c - the process may end while code is generated.
 *
 * The worker thread is not waited for then (it may be busy for seconds, after a Ctrl-C, say), and would meet
 * destroyed objects. So the destructors of LLVM's and its C++ library's static objects are not registered: the linker
 * gives us what they ask for it (--wrap in CMakeLists.txt). Nothing of theirs needs them; the memory goes
 * with the process. */
int __wrap___cxa_atexit(void (*destructor)(void *), void *object, void *library);

int __wrap___cxa_atexit(void (*destructor)(void *), void *object, void *library) {
    (void)destructor, (void)object, (void)library;
    return 0;
}
