"""A process of its own that draws weights at random in their true shapes and formats, and that calls pyiqa.

It takes a line of JSON for each request from standard input and answers with one. `{"make": METRIC}` writes
the metric's files where pyiqa looks for them, those that are there already excepted, and answers with their
paths; `{"score": METRIC, "picture": PATH}` answers with what pyiqa says of a file on the CPU.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import scipy.io
import torch

HUB = Path(os.environ["TORCH_HOME"]) / "hub"
HF_HUB = Path(os.environ["HF_HOME"]) / "hub"

CLIP = {"RN50.pt": "RN50", "ViT-B-32.pt": "ViT-B/32"}
# Embedding; resolution, layers, width and patch of the picture's part; length, words, width, heads, layers of
# the text's.
CLIP_SHAPES = {
    "RN50.pt": (1024, 224, (3, 4, 6, 3), 64, None, 77, 49408, 512, 8, 12),
    "ViT-B-32.pt": (512, 224, 12, 768, 32, 77, 49408, 512, 8, 12),
}
TIMM = {
    "resnet50": "timm/resnet50.a1_in1k",
    "inception_resnet_v2": "timm/inception_resnet_v2.tf_in1k",
    "vit_base_patch8_224": "timm/vit_base_patch8_224.augreg2_in21k_ft_in1k",
}
ONE_ALIGN = "q-future/one-align"
REVISION = "0" * 40


def arniqa() -> list[Path]:
    resnet = torchvision("resnet50", "resnet50-0676ba61.pth")
    encoder = HUB / "checkpoints" / "ARNIQA.pth"
    children = list(torchvision_model("resnet50").children())[:-1]
    state = torch.nn.Sequential(*children).state_dict()
    save({f"model.{name}": value for name, value in state.items()}, encoder)
    regressor = HUB / "pyiqa" / "regressor_koniq10k.pth"
    torch.jit.script(torch.nn.Linear(4096, 1)).save(regressor)
    return [resnet, encoder, regressor]


def clipiqa() -> list[Path]:
    return [clip("RN50.pt")]


def cnniqa() -> list[Path]:
    from pyiqa.archs.cnniqa_arch import CNNIQA

    return [pyiqa_file("CNNIQA_koniq10k-e6f14c91.pth", params=CNNIQA(pretrained=None))]


def dbcnn() -> list[Path]:
    vgg = torchvision("vgg16", "vgg16-397923af.pth")
    from pyiqa.archs.dbcnn_arch import DBCNN, SCNN

    scnn = pyiqa_file("DBCNN_scnn-7ea73d75.pth", SCNN(use_bn=True))
    return [vgg, scnn, pyiqa_file("DBCNN_KonIQ10k-2de81c0a.pth", params=DBCNN(pretrained=False))]


def hyperiqa() -> list[Path]:
    backbone = timm("resnet50")
    from pyiqa.archs.hypernet_arch import HyperNet

    model = HyperNet(pretrained=False)
    return [backbone, pyiqa_file("HyperIQA-resnet50-koniq10k-c96c41b1.pth", params=model)]


def ilniqe() -> list[Path]:
    random, features, components = np.random.default_rng(1), 468, 430
    spread = random.normal(size=(components, components))
    template = np.empty((1, 4), object)
    template[0, 0] = random.normal(size=(1, components))
    template[0, 1] = spread @ spread.T / components + np.eye(components)
    template[0, 2] = random.normal(size=(features, 1))
    template[0, 3] = np.linalg.qr(random.normal(size=(features, components)))[0]
    return [mat("ILNIQE_templateModel.mat", templateModel=template)]


def liqe() -> list[Path]:
    backbone = clip("ViT-B-32.pt")
    from pyiqa.archs.liqe_arch import LIQE

    return [backbone, pyiqa_file("liqe_koniq.pt", params=LIQE(pretrained=False))]


def maniqa() -> list[Path]:
    backbone = timm("vit_base_patch8_224")
    from pyiqa.archs.maniqa_arch import MANIQA

    return [backbone, pyiqa_file("ckpt_koniq10k.pt", MANIQA(pretrained=False))]


def musiq() -> list[Path]:
    from pyiqa.archs.musiq_arch import MUSIQ

    return [pyiqa_file("musiq_koniq_ckpt-e95806b9.pth", MUSIQ(pretrained=False))]


def nima() -> list[Path]:
    backbone = timm("inception_resnet_v2")
    from pyiqa.archs.nima_arch import NIMA

    model = NIMA("inception_resnet_v2", num_classes=10, pretrained=False)
    return [backbone, pyiqa_file("NIMA_InceptionV2_ava-b0c77c00.pth", params=model)]


def nrqm() -> list[Path]:
    random, nodes, trees = np.random.default_rng(2), 31, 8
    number = np.arange(1, nodes + 1)[:, None].repeat(trees, 1)
    inner = number <= nodes // 2
    forests = np.empty((1, 3), object)
    for each in range(3):
        forests[0, each] = {
            "lDau": np.where(inner, 2 * number, 0).astype(np.int32),
            "rDau": np.where(inner, 2 * number + 1, 0).astype(np.int32),
            "nodestatus": inner.astype(np.int32),
            "nrnodes": np.full((1, trees), nodes, np.int32),
            "xbestsplit": random.uniform(0, 1, (nodes, trees)),
            "nodepred": random.uniform(0, 10, (nodes, trees)),
            "mbest": random.integers(1, 19, (nodes, trees)).astype(np.int32),
        }
    linear = np.array([[0.5], [0.4], [0.3], [0.2]])
    return [mat("NRQM_model.mat", model={"linear": linear, "rf": forests})]


def paq2piq() -> list[Path]:
    resnet = torchvision("resnet18", "resnet18-f37072fd.pth")
    from pyiqa.archs.paq2piq_arch import PAQ2PIQ

    model = PAQ2PIQ(pretrained=False)
    return [resnet, pyiqa_file("P2P_RoIPoolModel-fit.10.bs.120-ca69882e.pth", model)]


def pi() -> list[Path]:
    random, features = np.random.default_rng(3), 36
    spread = random.normal(size=(features, features))
    mu, cov = random.normal(size=(1, features)), spread @ spread.T
    return [*nrqm(), mat("niqe_modelparameters.mat", mu_prisparam=mu, cov_prisparam=cov)]


def qalign() -> list[Path]:
    """Save a tiny model as the repository holds it: configuration, tokenizer, processor and weights."""
    folder = HF_HUB / f"models--{ONE_ALIGN.replace('/', '--')}" / "snapshots" / REVISION
    if folder.exists():
        return [folder]
    refer(ONE_ALIGN, REVISION)
    from transformers import CLIPImageProcessor, LlamaTokenizer

    words = [f"▁{word}" for word in ("excellent", "good", "fair", "poor", "bad", "quality", "image")]
    letters = [chr(code) for code in range(33, 127)] + ["▁"]
    vocabulary = dict.fromkeys(["<unk>", "<s>", "</s>", *letters])
    merges = []
    for word in words:
        for end in range(2, len(word) + 1):
            merges.append((word[: end - 1], word[end - 1]))
            vocabulary[word[:end]] = None
    vocabulary = {token: number for number, token in enumerate(vocabulary)}
    merges = list(dict.fromkeys(merges))
    LlamaTokenizer(vocab=vocabulary, merges=merges).save_pretrained(folder)
    CLIPImageProcessor(size={"shortest_edge": 56}, crop_size=56).save_pretrained(folder)
    from pyiqa.archs.q_align.modeling_mplug_owl2 import MPLUGOwl2Config, MPLUGOwl2LlamaForCausalLM

    vision = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    visual = {
        "visual_model": vision | {"image_size": 56, "patch_size": 14},
        "visual_abstractor": vision | {"num_learnable_queries": 4, "encoder_hidden_size": 32, "grid_size": 4},
    }
    config = MPLUGOwl2Config(
        visual,
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    MPLUGOwl2LlamaForCausalLM(config).half().save_pretrained(folder)
    return [folder]


def qualiclip() -> list[Path]:
    backbone = clip("RN50.pt")
    state = {f"clip_model.{name}": value for name, value in clip_model("RN50.pt").state_dict().items()}
    state["prompts_features"] = torch.nn.functional.normalize(torch.randn(14, 1024))
    path = HUB / "pyiqa" / "QualiCLIP.pth"
    save(state, path)
    return [backbone, path]


def topiq_nr() -> list[Path]:
    backbone = timm("resnet50")
    from pyiqa.archs.topiq_arch import CFANet

    model = CFANet(use_ref=False, pretrained=False)
    return [backbone, pyiqa_file("cfanet_nr_koniq_res50-9a73138b.pth", params=model)]


def tres() -> list[Path]:
    resnet = torchvision("resnet50", "resnet50-0676ba61.pth")
    from pyiqa.archs.tres_arch import TReS

    return [resnet, pyiqa_file("tres_koniq-f0502926.pth", TReS(pretrained=False))]


def wadiqam_nr() -> list[Path]:
    from pyiqa.archs.wadiqam_arch import WaDIQaM

    model = WaDIQaM(metric_type="NR", pretrained=False)
    return [pyiqa_file("WaDIQaM-NR-koniq-aaffea29.pth", params=model)]


MAKERS = (
    *(arniqa, clipiqa, cnniqa, dbcnn, hyperiqa, ilniqe, liqe, maniqa, musiq, nima, nrqm, paq2piq, pi, qalign),
    *(qualiclip, topiq_nr, tres, wadiqam_nr),
)


def save(state: dict[str, object], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, path)


def pyiqa_file(
    name: str, model: torch.nn.Module | None = None, params: torch.nn.Module | None = None
) -> Path:
    path = HUB / "pyiqa" / name
    save({"params": params.state_dict()} if params is not None else model.state_dict(), path)
    return path


def mat(name: str, **content: object) -> Path:
    path = HUB / "pyiqa" / name
    scipy.io.savemat(path, content)
    return path


def torchvision_model(name: str) -> torch.nn.Module:
    import torchvision

    return getattr(torchvision.models, name)(weights=None)


def torchvision(model: str, name: str) -> Path:
    path = HUB / "checkpoints" / name
    if not path.exists():
        save(torchvision_model(model).state_dict(), path)
    return path


def timm(name: str) -> Path:
    import timm
    from safetensors.torch import save_file

    revision = hashlib.sha1(name.encode()).hexdigest()
    repository = refer(TIMM[name], revision)
    path = repository / "snapshots" / revision / "model.safetensors"
    if not path.exists():
        path.parent.mkdir(parents=True)
        save_file(timm.create_model(name, pretrained=False).state_dict(), path)
    return path


def refer(repository: str, revision: str) -> Path:
    """Let a repository's main branch be a revision, as after a download."""
    folder = HF_HUB / f"models--{repository.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True, exist_ok=True)
    (folder / "refs" / "main").write_text(revision)
    return folder


def clip_model(name: str) -> torch.nn.Module:
    from pyiqa.archs import clip_model

    return clip_model.CLIP(*CLIP_SHAPES[name]).eval()


def clip(name: str) -> Path:
    """Write a TorchScript archive in half precision, as OpenAI's are."""
    path = HUB / "clip" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        inputs = torch.zeros(1, 3, 224, 224), torch.zeros(1, 77, dtype=torch.int64)
        with torch.no_grad():
            torch.jit.trace(clip_model(name), inputs, check_trace=False).half().save(path)
    # pyiqa would fetch a file of another digest anew.
    import pyiqa.archs.clip_model

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    pyiqa.archs.clip_model._MODELS[CLIP[name]] = f"https://unreachable.invalid/{digest}/{name}"
    return path


def make(metric: str) -> list[str]:
    torch.manual_seed(len(metric))
    (HUB / "pyiqa").mkdir(parents=True, exist_ok=True)
    makers = {maker.__name__: maker for maker in MAKERS}
    with torch.no_grad():
        paths = makers[metric]()
    return [str(path) for path in paths]


def score(metric: str, picture: str) -> float:
    # LIQE keeps what it makes of one file's weights, and would use it with another's.
    (HUB / "pyiqa" / "liqe_text_feat.pt").unlink(missing_ok=True)
    if metric == "qalign":
        complete_qalign()
    # They hold CFANet, ILNIQE and PI; pyiqa would import everything else too to find them.
    import pyiqa
    from pyiqa.archs import niqe_arch, nrqm_arch, topiq_arch  # noqa: F401

    return float(pyiqa.create_metric(metric, device=torch.device("cpu"))(picture).flatten()[0])


def complete_qalign() -> None:
    """Give transformers 5 the method of transformers 4 without which Q-Align of pyiqa 0.1.16 fails."""
    from transformers import PreTrainedModel

    def invert_attention_mask(self, mask):
        return (1.0 - mask[:, None, None, :].to(self.dtype)) * torch.finfo(self.dtype).min

    PreTrainedModel.invert_attention_mask = invert_attention_mask


def main() -> None:
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    for line in sys.stdin:
        request = json.loads(line)
        with redirect_stdout(sys.stderr):
            if "make" in request:
                answer = make(request["make"])
            else:
                answer = score(request["score"], request["picture"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
