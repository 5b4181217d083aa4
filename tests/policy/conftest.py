"""Networks as small as these run fastest on one thread, all the more beside other tests."""

import torch

torch.set_num_threads(1)
