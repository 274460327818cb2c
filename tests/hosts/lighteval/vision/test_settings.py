import pytest

from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.vision.settings import FrameVLMConfig, InputForm, read_settings


def given(text):
    return read_settings(text).model_dump(exclude_unset=True)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("model_name=a/b,batch_size=4", {"model_name": "a/b", "batch_size": 4}),
        ("model_name=x,trust_remote_code", {"model_name": "x", "trust_remote_code": True}),
        ("model_name=x,images_kwargs={max_pixels:1,size:{height:3}}",
         {"model_name": "x", "images_kwargs": {"max_pixels": 1, "size": {"height": 3}}}),
        ("model_name=x,chat_template_kwargs={enable_thinking: false, url: 'http://a,b'}",
         {"model_name": "x", "chat_template_kwargs": {"enable_thinking": False, "url": "http://a,b"}}),
        ("model_name=x,generation_parameters={temperature=0.7,top_p:0.9}",
         {"model_name": "x", "generation_parameters": {"temperature": 0.7, "top_p": 0.9}}),
        ("model_name=x,subfolder=a=b/c,system_prompt='Look, then answer.'",
         {"model_name": "x", "subfolder": "a=b/c", "system_prompt": "Look, then answer."}),
        ("model_name=x,input=video", {"model_name": "x", "input": InputForm.VIDEO}),
    ],
)  # fmt: skip
def test_arguments_are_read_as_typed(text, values):
    assert given(text) == values


@pytest.mark.parametrize(
    ("typed", "dtype"), [("bf16", "bfloat16"), ("FP16", "float16"), ("half", "float16"), ("torch.float32", "float32")]
)
def test_names_of_types_that_people_type_are_known(typed, dtype):
    assert read_settings(f"model_name=x,dtype={typed}").dtype == dtype


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model_name=x,batchsize=3", "did you mean batch_size"),
        ("model_name=x,image_kwargs={a:1}", "did you mean images_kwargs"),
        ("model_name=x,dtype=bf61", "did you mean bf16"),
        ("model_name=x,device=mars", "no device 'mars'"),
        ("model_name=x,device=cuda:77", "no device 'cuda:77'"),
        ("model_name=x,device_map=nonsense", "known: auto, balanced"),
        ("model_name=x,attn_implementation=flash_attn_2", "did you mean flash_attention_2"),
        ("model_name=x,quantization=4bits", "did you mean 4bit"),
        ("model_name=x,quantization={bits: 4}", "needs quant_method"),
        ("model_name=x,input=movie", "'frames' or 'video'"),
        ("model_name=x,chat_template=nowhere.jinja", "neither a file nor 'in-order'"),
        ("model_name=org/name@@x", "a setting of its own: org/name,revision=x"),
        ("model_name=org/name@v1", "org/name,revision=v1"),
        ("model_name=x,revision=@x", "no branch, tag or commit can be called '@x'"),
        ("model_name=./nowhere", "no such folder here"),
        ("model_name=x,adapter=~/nowhere", "no such folder here"),
        ("model_name=x,processor=a/b/c", "no such folder here"),
        ("model_name=x,batch_size=0", "greater than 0"),
        ("model_name=x,compile=true", "not compiled"),
        ("model_name=x,images_kwargs={a:1", "not closed"),
        ("model_name=x,images_kwargs={a: [}]", "cannot be read as a mapping"),
        ("model_name=x,images_kwargs=7", "images_kwargs=7: Input should be a valid dictionary"),
        ("model_name=x,model_name=y", "given twice"),
        ("model_name=x,settled={a:1}", "for the program to write"),
        ("batch_size=1", "no model_name"),
    ],
)
def test_what_is_unknown_is_refused_with_the_nearest_known(text, says):
    with pytest.raises(InputError, match=says):
        read_settings(text)


def test_a_folder_below_home_is_found_where_the_shell_leaves_its_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    assert read_settings("model_name=~/model").model_name == str(tmp_path / "model")


def test_all_faults_are_named_at_once():
    with pytest.raises(InputError, match=r"bf16\?\n.*batch_size"):
        read_settings("model_name=x,batchsize=3,dtype=bf61")


def test_a_yaml_file_says_the_same_as_the_command_line(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text("model_parameters:\n  model_name: x\n  dtype: bf16\n  images_kwargs: {max_pixels: 200704}\n")
    assert read_settings(str(path)) == read_settings("model_name=x,dtype=bf16,images_kwargs={max_pixels:200704}")


@pytest.mark.parametrize("content", ["model_name: x\n", "[1, 2]\n", "a: [\n", "", "model_parameters: 3\n"])
def test_a_yaml_file_of_another_form_is_one_message(tmp_path, content):
    path = tmp_path / "model.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=r"model\.yaml"):
        read_settings(str(path))


@pytest.mark.parametrize(
    ("content", "says"),
    [("{dtype: bf16, dtype: fp16}", "'dtype' is given twice"), ("&a [1]\nagain: *a", r"aliases .* are not taken")],
)
def test_a_yaml_file_of_a_model_is_read_as_strictly_as_any_other(tmp_path, content, says):
    path = tmp_path / "model.yaml"
    path.write_text(f"model_parameters: {content}")
    with pytest.raises(InputError, match=says) as error:
        read_settings(str(path))
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="given twice"):
        read_settings("model_name=x,images_kwargs={max_pixels: 1, max_pixels: 2}")


def test_a_value_that_only_we_check_is_named_for_lightevals_own_settings():
    from lighteval.models.transformers.vlm_transformers_model import VLMTransformersModelConfig

    with pytest.raises(InputError, match=r"dtype=fp17: there is no 'fp17'"):
        FrameVLMConfig.of(VLMTransformersModelConfig(model_name="x", dtype="fp17"))


def test_a_missing_yaml_file_is_one_message(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_settings(str(tmp_path / "none.yaml"))


def test_lightevals_own_settings_are_taken_over_whatever_it_sets_by_default():
    from lighteval.models.transformers.vlm_transformers_model import VLMTransformersModelConfig

    stock = VLMTransformersModelConfig(model_name="x", batch_size=3, dtype="bfloat16")
    assert FrameVLMConfig.of(stock) == FrameVLMConfig(model_name="x", batch_size=3, dtype="bfloat16")


def test_defect_lighteval_cuts_a_mapping_at_its_commas():
    from lighteval.models.abstract_model import ModelConfig

    read = ModelConfig._parse_args("model_name=x,images_kwargs={max_pixels:1,min_pixels:2}")
    assert read["images_kwargs"] == "{max_pixels:1"
