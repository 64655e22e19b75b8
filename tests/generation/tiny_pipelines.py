"""Pipelines of the true classes with random weights, each some 100 kB, saved as the large ones are."""

from __future__ import annotations

PLAIN_CHAT = (
    "{% for message in messages %}{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for content in message['content'] %}{{ content.get('text', '') }}{% endfor %}{% endif %}\n"
    "{% endfor %}"
)
QWEN_TOKENS = [
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|image_pad|>", "<|video_pad|>"),
]
SCALE = 4  # of the autoencoders: they halve a picture three times


def save(key, folder):
    """Build the pipeline of a model and save it under its key."""
    import torch

    torch.manual_seed(0)
    pipeline = BUILDERS[key]()
    pipeline.save_pretrained(folder / key)


def _letters():
    from tokenizers.pre_tokenizers import ByteLevel

    return {letter: number for number, letter in enumerate(sorted(ByteLevel.alphabet()))}


def _clip():
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    letters = list(_letters())
    words = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    tokenizer = CLIPTokenizer(
        vocab={word: number for number, word in enumerate(words)}, merges=[], model_max_length=77
    )
    config = CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        projection_dim=32,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return tokenizer, CLIPTextModel(config)


def _qwen_tokenizer():
    from transformers import Qwen2Tokenizer

    tokenizer = Qwen2Tokenizer(vocab=_letters(), merges=[])
    tokenizer.add_special_tokens({"additional_special_tokens": QWEN_TOKENS})
    tokenizer.eos_token, tokenizer.pad_token = "<|im_end|>", "<|endoftext|>"
    tokenizer.chat_template = PLAIN_CHAT
    return tokenizer


def _autoencoder(kind, **options):
    blocks = {
        "down_block_types": ["DownEncoderBlock2D"] * SCALE,
        "up_block_types": ["UpDecoderBlock2D"] * SCALE,
    }
    return kind(block_out_channels=[4] * SCALE, layers_per_block=1, norm_num_groups=2, **blocks, **options)


def _flux2_parts(*, guidance):
    from diffusers import AutoencoderKLFlux2, FlowMatchEulerDiscreteScheduler, Flux2Transformer2DModel

    transformer = Flux2Transformer2DModel(
        patch_size=1,
        in_channels=8,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=24,  # three layers of the text encoder, eight wide
        timestep_guidance_channels=16,
        axes_dims_rope=(4, 4, 4, 4),
        guidance_embeds=guidance,
    )
    vae = _autoencoder(AutoencoderKLFlux2, latent_channels=2)
    return {"scheduler": FlowMatchEulerDiscreteScheduler(), "vae": vae, "transformer": transformer}


def _klein():
    from diffusers import Flux2KleinPipeline
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokenizer = _qwen_tokenizer()
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=28,  # the 27th is read
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=4,
        max_position_embeddings=600,
    )
    return Flux2KleinPipeline(
        text_encoder=Qwen3ForCausalLM(config),
        tokenizer=tokenizer,
        is_distilled=True,
        **_flux2_parts(guidance=False),
    )


def _flux2():
    from diffusers import Flux2Pipeline
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import (
        Mistral3Config,
        Mistral3ForConditionalGeneration,
        PixtralImageProcessor,
        PixtralProcessor,
        PreTrainedTokenizerFast,
    )

    bytes_only = Tokenizer(models.BPE(vocab=_letters(), merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bytes_only)
    pictures = ["[IMG]", "[IMG_BREAK]", "[IMG_END]"]
    tokenizer.add_special_tokens(
        {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "additional_special_tokens": pictures}
    )
    heads = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2, "head_dim": 4}
    config = Mistral3Config(
        text_config={
            "model_type": "mistral",
            "vocab_size": len(tokenizer),
            "num_hidden_layers": 31,  # the 30th is read
            "num_key_value_heads": 1,
            "max_position_embeddings": 600,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
            **heads,
        },
        vision_config={
            "model_type": "pixtral",
            "num_hidden_layers": 1,
            "image_size": 16,
            "patch_size": 8,
            **heads,
        },
        image_token_index=tokenizer.convert_tokens_to_ids("[IMG]"),
    )
    processor = PixtralProcessor(
        image_processor=PixtralImageProcessor(), tokenizer=tokenizer, chat_template=PLAIN_CHAT
    )
    return Flux2Pipeline(
        text_encoder=Mistral3ForConditionalGeneration(config),
        tokenizer=processor,
        **_flux2_parts(guidance=True),
    )


def _qwen():
    from diffusers import (
        AutoencoderKLQwenImage,
        FlowMatchEulerDiscreteScheduler,
        QwenImageEditPlusPipeline,
        QwenImageTransformer2DModel,
    )
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2VLImageProcessor,
        Qwen2VLProcessor,
        Qwen2VLVideoProcessor,
    )

    tokenizer = _qwen_tokenizer()
    number = tokenizer.convert_tokens_to_ids
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "max_position_embeddings": 4096,
            "rope_scaling": {"type": "default", "rope_type": "default", "mrope_section": [1, 1, 2]},
        },
        vision_config={
            "depth": 1,
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_heads": 2,
            "out_hidden_size": 16,
        },
        image_token_id=number("<|image_pad|>"),
        video_token_id=number("<|video_pad|>"),
        vision_start_token_id=number("<|vision_start|>"),
        vision_end_token_id=number("<|vision_end|>"),
    )
    vae = AutoencoderKLQwenImage(
        base_dim=2,
        z_dim=4,
        dim_mult=[1] * SCALE,
        num_res_blocks=0,
        temperal_downsample=[False, True, True],
        latents_mean=[0.0] * 4,
        latents_std=[1.0] * 4,
    )
    transformer = QwenImageTransformer2DModel(
        patch_size=2,
        in_channels=16,
        out_channels=4,
        num_layers=1,
        attention_head_dim=16,
        num_attention_heads=1,
        joint_attention_dim=16,
        axes_dims_rope=(8, 4, 4),
    )
    return QwenImageEditPlusPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=Qwen2_5_VLForConditionalGeneration(config),
        tokenizer=tokenizer,
        processor=Qwen2VLProcessor(
            image_processor=Qwen2VLImageProcessor(),
            tokenizer=tokenizer,
            video_processor=Qwen2VLVideoProcessor(),
        ),
        transformer=transformer,
    )


def _kontext():
    from diffusers import (
        AutoencoderKL,
        FlowMatchEulerDiscreteScheduler,
        FluxKontextPipeline,
        FluxTransformer2DModel,
    )
    from transformers import T5Config, T5EncoderModel, T5Tokenizer

    tokenizer, text_encoder = _clip()
    special = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces = [(letter, -1.0) for letter in "▁abcdefghijklmnopqrstuvwxyz.,"]
    vae = _autoencoder(
        AutoencoderKL,
        latent_channels=2,
        use_quant_conv=False,
        use_post_quant_conv=False,
        shift_factor=0.1,
        scaling_factor=1.5,
    )
    transformer = FluxTransformer2DModel(
        patch_size=1,
        in_channels=8,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=1,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        axes_dims_rope=(4, 4, 8),
        guidance_embeds=True,
    )
    return FluxKontextPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        text_encoder_2=T5EncoderModel(
            T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=32, num_layers=1, num_heads=2)
        ),
        tokenizer_2=T5Tokenizer(vocab=special + pieces),
        transformer=transformer,
    )


def _pix2pix():
    from diffusers import (
        AutoencoderKL,
        PNDMScheduler,
        StableDiffusionInstructPix2PixPipeline,
        UNet2DConditionModel,
    )

    tokenizer, text_encoder = _clip()
    unet = UNet2DConditionModel(
        sample_size=8,
        in_channels=8,
        out_channels=4,
        layers_per_block=1,
        block_out_channels=(8, 8),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32,
        norm_num_groups=4,
    )
    return StableDiffusionInstructPix2PixPipeline(
        vae=_autoencoder(AutoencoderKL, latent_channels=4),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        unet=unet,
        scheduler=PNDMScheduler(skip_prk_steps=True),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


BUILDERS = {
    "FLUX.2-klein-4B": _klein,
    "FLUX.2-dev": _flux2,
    "Qwen-Image-Edit-2511": _qwen,
    "FLUX.1-Kontext-dev": _kontext,
    "instruct-pix2pix": _pix2pix,
}
