"""Networks of Hugging Face's transformers at the sizes of their layers, of few layers, with random weights: what bench/zoo.py
exports of that package."""

TOKENS, WORDS = 64, 1000  # a sequence's length; a vocabulary that says nothing about time


def text(kind, mask=True, head="", tokens=TOKENS, **config):
    """A network of tokens: its config's class less `Config`, what it is told beyond it, and the head that AutoModel lacks."""
    return kind, {"vocab_size": WORDS, "use_cache": False, **config}, {"input_ids": (1, tokens), **({"attention_mask": (1, tokens)} if mask else {})}, head


def other(kind, head="", inputs=None, **config):
    return kind, config, inputs or {"pixel_values": (1, 3, 224, 224)}, head


OLD = {"hidden_size": 768, "num_hidden_layers": 2, "num_attention_heads": 12, "intermediate_size": 3072}  # as BERT's base has them
NEW = {"hidden_size": 512, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 1408}
HALF = {"hidden_size": 384, "num_hidden_layers": 2, "num_attention_heads": 6, "intermediate_size": 1536}
PATCHES = {"hidden_size": 384, "num_hidden_layers": 2, "num_attention_heads": 6, "intermediate_size": 1536, "image_size": 224, "patch_size": 16}
DECODER = {"d_model": 512, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 8, "decoder_attention_heads": 8,
           "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048}
SPEECH = {"input_values": (1, 16000)}
BOTH = {"input_ids": (1, TOKENS), "decoder_input_ids": (1, 32)}

NETS = {
    "bert": text("Bert", **OLD),
    "bert_classes": text("Bert", head="ForSequenceClassification", **HALF),
    "distilbert": text("DistilBert", dim=768, n_layers=2, n_heads=12, hidden_dim=3072),
    "roberta": text("Roberta", head="ForMaskedLM", **HALF),
    "albert": text("Albert", embedding_size=128, **OLD),
    "electra": text("Electra", embedding_size=128, hidden_size=256, num_hidden_layers=3, num_attention_heads=4, intermediate_size=1024),
    "deberta_v2": text("DebertaV2", relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=32, norm_rel_ebd="layer_norm",
                       share_att_key=True, position_biased_input=False, max_relative_positions=-1, **HALF),
    "mpnet": text("MPNet", **HALF),
    "modernbert": text("ModernBert", global_attn_every_n_layers=2, local_attention=32, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                       cls_token_id=1, sep_token_id=2, **HALF),
    "xlnet": text("XLNet", d_model=384, n_layer=2, n_head=6, d_inner=1536),
    "bigbird": text("BigBird", attention_type="block_sparse", block_size=16, num_random_blocks=1, tokens=128, **HALF),
    "longformer": text("Longformer", attention_window=[32, 32], **HALF),
    "squeezebert": text("SqueezeBert", embedding_size=384, **HALF),
    "fnet": text("FNet", mask=False, hidden_size=384, num_hidden_layers=2, intermediate_size=1536),
    "gpt2": text("GPT2", head="LMHead", n_embd=768, n_layer=2, n_head=12),
    "gpt_neox": text("GPTNeoX", **HALF),
    "gptj": text("GPTJ", n_embd=512, n_layer=2, n_head=8, rotary_dim=32),
    "opt": text("OPT", hidden_size=512, num_hidden_layers=2, num_attention_heads=8, ffn_dim=2048, word_embed_proj_dim=512),
    "bloom": text("Bloom", hidden_size=512, n_layer=2, n_head=8),
    "mpt": text("Mpt", d_model=512, n_layers=2, n_heads=8),
    "llama": text("Llama", head="ForCausalLM", **NEW),
    "mistral": text("Mistral", sliding_window=32, **NEW),
    "qwen2": text("Qwen2", **NEW),
    "qwen3": text("Qwen3", head_dim=64, **NEW),
    "gemma": text("Gemma", head_dim=64, **NEW),
    "gemma2": text("Gemma2", head_dim=64, sliding_window=32, query_pre_attn_scalar=64, **NEW),
    "gemma3": text("Gemma3Text", head_dim=64, sliding_window=32, query_pre_attn_scalar=64, **NEW),
    "phi": text("Phi", partial_rotary_factor=0.5, **{**NEW, "num_key_value_heads": 8}),
    "phi3": text("Phi3", pad_token_id=0, **NEW),
    "falcon": text("Falcon", hidden_size=512, num_hidden_layers=2, num_attention_heads=8),
    "stablelm": text("StableLm", **NEW),
    "cohere": text("Cohere", **NEW),
    "olmo2": text("Olmo2", **NEW),
    "mixtral": text("Mixtral", num_local_experts=4, num_experts_per_tok=2, **NEW),
    "mamba": text("Mamba", mask=False, tokens=32, hidden_size=256, num_hidden_layers=2, state_size=16),
    "rwkv": text("Rwkv", mask=False, tokens=32, hidden_size=256, num_hidden_layers=2),
    "t5_encoder": text("T5", head="Encoder", mask=True, d_model=512, d_kv=64, d_ff=2048, num_layers=2, num_heads=8),
    "t5": other("T5", inputs=BOTH, vocab_size=WORDS, use_cache=False, d_model=512, d_kv=64, d_ff=2048, num_layers=2, num_heads=8),
    "bart": other("Bart", inputs=BOTH, vocab_size=WORDS, use_cache=False, **DECODER),
    "marian": other("Marian", inputs=BOTH, vocab_size=WORDS, use_cache=False, pad_token_id=0, **DECODER),
    "whisper_encoder": other("Whisper", head="Encoder", inputs={"input_features": (1, 80, 256)}, max_source_positions=128, d_model=384,
                             encoder_layers=2, encoder_attention_heads=6, encoder_ffn_dim=1536),
    "wav2vec2": other("Wav2Vec2", inputs=SPEECH, **HALF),
    "hubert": other("Hubert", inputs=SPEECH, **HALF),
    "sew": other("SEW", inputs=SPEECH, **HALF),
    "wavlm": other("WavLM", inputs=SPEECH, **HALF),
    "ast": other("AST", inputs={"input_values": (1, 256, 128)}, max_length=256, **HALF),
    "clip_text": other("CLIPText", inputs={"input_ids": (1, 77)}, vocab_size=WORDS, eos_token_id=2, projection_dim=512, **{**HALF, "hidden_size": 512, "num_attention_heads": 8}),
    "clip_vision": other("CLIPVision", **PATCHES),
    "siglip_vision": other("SiglipVision", **PATCHES),
    "vit": other("ViT", head="ForImageClassification", num_labels=100, **PATCHES),
    "deit": other("DeiT", **PATCHES),
    "beit": other("Beit", use_relative_position_bias=True, **PATCHES),
    "dinov2": other("Dinov2", **{**PATCHES, "patch_size": 14}),
    "swin": other("Swin", embed_dim=96, depths=[2, 2], num_heads=[3, 6]),
    "swinv2": other("Swinv2", embed_dim=96, depths=[2, 2], num_heads=[3, 6]),
    "segformer": other("Segformer", head="ForSemanticSegmentation", depths=[1, 1, 1, 1]),
    "pvt": other("Pvt", depths=[1, 1, 1, 1]),
    "convnextv2": other("ConvNextV2", depths=[1, 1, 2, 1]),
    "mobilevit": other("MobileViT"),
    "poolformer": other("PoolFormer", depths=[1, 1, 2, 1]),
    "sam_encoder": other("SamVision", inputs={"pixel_values": (1, 3, 512, 512)}, hidden_size=384, num_hidden_layers=2, num_attention_heads=6,
                         image_size=512, mlp_dim=1536, window_size=14, global_attn_indexes=[1]),
    "detr": other("Detr", head="ForObjectDetection", use_timm_backbone=True, use_pretrained_backbone=False, backbone="resnet18", num_queries=50,
                  encoder_layers=2, decoder_layers=2, encoder_ffn_dim=1024, decoder_ffn_dim=1024),
    "rt_detr": other("RTDetr", head="ForObjectDetection", inputs={"pixel_values": (1, 3, 320, 320)}, num_queries=100, decoder_layers=2),
    "yolos": other("Yolos", head="ForObjectDetection", **{**PATCHES, "image_size": [224, 224]}),
    "patchtst": other("PatchTST", inputs={"past_values": (1, 256, 4)}, num_input_channels=4, context_length=256, d_model=128),
}


def kind_of(name, given):
    """The type of an input. XLNet and BigBird take a mask from 1.0, which the exporter has no operator for where it is of integers."""
    import numpy as np

    floats = not given.endswith(("ids", "mask")) or (given.endswith("mask") and name in ("xlnet", "bigbird"))
    return np.float32 if floats else np.int64


def network(name):
    """(module, its inputs' shapes by name)."""
    import transformers

    kind, config, inputs, head = NETS[name]
    made = getattr(transformers, f"{kind}Config")(**config)
    if head == "Encoder":
        module = getattr(transformers.models, kind.lower())
        module = {"T5": lambda: transformers.T5EncoderModel(made), "Whisper": lambda: transformers.WhisperModel(made).encoder}[kind]()
    elif head:
        module = getattr(transformers, f"{kind}{head}" + ("Model" if head == "LMHead" else ""))(made)
    else:
        module = transformers.AutoModel.from_config(made)
    return module, inputs
