"""The GPUs of this machine, as torch sees them."""


def gpu_names() -> list[str]:
    """Return the names of the CUDA devices, in their order."""
    import torch

    return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
