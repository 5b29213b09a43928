"""Work in several threads at once, for tests."""
import threading


def in_threads(work, n):
    """Runs work(k) in n threads that start at one moment; what they raised."""
    barrier, failures = threading.Barrier(n), []

    def body(k):
        barrier.wait()
        try:
            work(k)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=body, args=(k,)) for k in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return failures
