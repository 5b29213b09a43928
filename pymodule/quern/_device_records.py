"""Elements of device arrays of records."""
import numpy as np


class DeviceRecord(np.void):
    """What `array[i]` is where a device array has records: a copy, as an element of another array is, whose fields are those on the
    device. Reading one reads there, assigning to it writes there; fields with fields or axes of their own are views of device memory."""

    def __getitem__(self, key):
        if isinstance(key, int):
            key = self.dtype.names[key]
        part = self.dtype[key]
        if isinstance(key, str) and part.shape:
            return self._place[key]
        if isinstance(key, str) and part.names:
            return device_record(self._place[key])
        return self._place.copy_to_host()[key][()]

    def __setitem__(self, key, value):
        if isinstance(key, int):
            key = self.dtype.names[key]
        host = self._place.copy_to_host()
        host[key] = value
        self._place.copy_to_device(host)
        np.void.__setitem__(self, key, host[key])

    def __eq__(self, other):
        return self._place.copy_to_host()[()] == other

    def __ne__(self, other):
        return self._place.copy_to_host()[()] != other

    __hash__ = None

    def __repr__(self):
        return repr(self._place.copy_to_host()[()])

    def __str__(self):
        return str(self._place.copy_to_host()[()])

    def tolist(self):
        return self._place.copy_to_host().tolist()

    item = tolist

    def copy_to_host(self, ary=None, stream=0):
        return self._place.copy_to_host(ary, stream)

    def copy_to_device(self, ary, stream=0):
        self._place.copy_to_device(ary, stream)

    def __reduce__(self):
        return np.ndarray.__getitem__, (self._place.copy_to_host(), ())


def device_record(view):
    """Of a device array of records without axes."""
    host = view.copy_to_host()
    record = host.view(np.dtype((DeviceRecord, host.dtype)))[()]
    record._place = view
    return record
