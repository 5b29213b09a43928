"""Graphs: a sequence of launches that is captured once and launched as one thing as often as one likes."""


class Graph:
    """What `cuda.graph(stream)` returns. Kernels that are launched on the stream inside `with graph:` are captured instead of run, with
    their arguments; a second `with graph:` takes their place. The graph keeps the arrays alive. Streams that wait for an event of the
    stream are captured with it, and may run their launches beside its own; an event of theirs brings them back."""

    def __init__(self, stream):
        self.stream = stream
        self._graph = None

    def __enter__(self):
        self.stream.begin_capture()
        return self

    def __exit__(self, kind, value, trace):
        try:
            captured = self.stream.end_capture()
        except ValueError:
            if kind is None:
                raise
        if kind is not None:
            return
        if self._graph is None:
            self._graph = captured
        else:
            self._graph.update(captured)

    def launch(self, stream=None):
        """Everything that was captured, once more, on the graph's stream or another one."""
        if self._graph is None:
            raise RuntimeError("the graph is empty: launch kernels on its stream inside `with graph:` first")
        self._graph.launch(self.stream if stream is None else stream)

    def __len__(self):
        return len(self._graph) if self._graph is not None else 0
