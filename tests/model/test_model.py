"""A model of named views of any kinds: what it learns, how it answers, and what it refuses."""

import hashlib

import numpy as np
import pandas as pd
import pytest

import scca
from scca.datasets import load_trilingual
from scca.kinds import TableKind, TextVectorizer, VectorKind
from scca.readers import TextViews
from scca.text import generate, lexicon, translate


@pytest.fixture(scope="module")
def corpus():
    return load_trilingual()


@pytest.fixture(scope="module")
def languages(corpus):
    return {name: corpus.texts(name)[:120] for name in ("en", "fr", "es")}


@pytest.fixture(scope="module")
def trilingual(languages):
    return scca.Model(12, held_out=0).fit(languages)


@pytest.fixture(scope="module")
def mixed(corpus):
    """Texts, a table with a column for each subject and one of noise, and vectors that an encoder could have made."""
    subjects = pd.get_dummies(pd.Series(corpus.subjects[:150])).astype(float)
    rng = np.random.default_rng(0)
    table = (subjects + 0.1 * rng.normal(size=subjects.shape)).assign(noise=rng.normal(size=150))
    table.index = [f"d{i}" for i in range(150)]
    vectors = subjects.to_numpy() @ rng.normal(size=(subjects.shape[1], 16))
    return {"en": corpus.en[:150], "subjects": table, "vectors": vectors}


@pytest.fixture(scope="module")
def of_kinds(mixed):
    return scca.Model(6, kinds={"vectors": "vectors"}, held_out=0).fit(mixed)


class TestLanguages:
    def test_streams_and_lists_are_the_same(self, languages, trilingual):
        streamed = scca.Model(12, held_out=0).fit(TextViews.of(languages))
        for one, other in zip(streamed.estimator_.weights_, trilingual.estimator_.weights_, strict=True):
            assert np.array_equal(one, other)
        assert streamed.samples_ == trilingual.samples_
        assert streamed.provenance_ == trilingual.provenance_

    def test_mates_between_any_two(self, corpus, trilingual):
        new = {name: corpus.texts(name)[120:160] for name in ("en", "fr", "es")}
        for source in new:
            for target in set(new) - {source}:
                found = trilingual.mates(new[source], new[target], source=source, target=target, top=1)
                assert np.mean(found.indices[:, 0] == np.arange(40)) > 0.5
        # both languages are told by their words
        found = trilingual.mates(new["fr"], new["es"], top=1)
        assert (found.source, found.target) == ("fr", "es")
        assert trilingual.score(new) > 0.5
        assert trilingual.score({name: new[name] for name in ("en", "es")}) > 0.5

    def test_words_of_any_two(self, trilingual):
        assert translate(trilingual, "juge", target="es").words[0].name == "juez"
        assert translate(trilingual, ["judge", "zzyzx"], source="en", target="fr")[1].known is False
        words = {pair.word: pair.mate for pair in lexicon(trilingual, source="es", target="fr", trust=0.9)}
        assert words["dos"] == "deux"
        made = generate(trilingual, ["the verdict of the judge"], source="en", target="es")[0]
        assert made.language == "es"
        assert {"juez", "veredicto", "juicio"} & {word.name for word in made.words}

    def test_what_is_not_told_is_asked_for(self, trilingual):
        with pytest.raises(ValueError, match="target must be one of fr, es"):
            trilingual.target_of("en")
        with pytest.raises(ValueError, match="target must be one of en, fr, es"):
            translate(trilingual, "juge")
        with pytest.raises(ValueError, match="target must be another view than en"):
            trilingual.target_of("en", "en")
        with pytest.raises(ValueError, match="language must be 'en', 'fr' or 'es'; got 'de'"):
            trilingual.project(["Brot"], "de")

    def test_digests_are_those_of_files(self, languages, trilingual):
        for name, told in zip(languages, trilingual.provenance_["inputs"], strict=True):
            content = "".join(f"{text}\n" for text in languages[name]).encode()
            assert told["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
            assert told["view"] == name

    def test_two_languages_are_the_bilingual_model(self, languages):
        from scca.readers import PairedText
        from scca.text import BilingualModel

        pair = {name: languages[name] for name in ("en", "fr")}
        one = scca.Model(5, held_out=0).fit(pair).estimator_
        other = BilingualModel(5, held_out=0).fit(PairedText.of(*pair.values(), ("en", "fr"))).estimator_
        for mine, its in zip(one.weights_, other.weights_, strict=True):
            np.testing.assert_allclose(mine, its, atol=1e-12)

    def test_samples_can_be_left_out(self, languages, tmp_path):
        model = scca.Model(3, held_out=0, keep_samples=False).fit(languages)
        assert model.samples_ is None
        assert all(s.name is None for c in model.result().components for view in c.views for s in view.samples)
        whole = scca.Model(3, held_out=0).fit(languages)
        scca.save(whole, tmp_path / "m", texts=False)
        assert scca.load(tmp_path / "m").samples_ is None
        content = (tmp_path / "m").read_bytes()
        assert not any(text[:60].encode() in content for name in languages for text in languages[name])

    def test_stopped_fits_go_on(self, languages, tmp_path, monkeypatch):
        monkeypatch.setattr("scca.progress._work._WORTH_STORING", 0.0)
        whole = scca.Model(4, held_out=0).fit(languages)

        class StopError(Exception):
            pass

        def stop(what, done, total):
            if what == "reading es" and done:
                raise StopError

        with pytest.raises(StopError):
            scca.Model(4, held_out=0).fit(TextViews.of(languages), progress=stop, checkpoint=tmp_path / "c")
        assert any((tmp_path / "c").iterdir())
        again = scca.Model(4, held_out=0).fit(TextViews.of(languages), checkpoint=tmp_path / "c")
        assert not (tmp_path / "c").exists()
        for one, other in zip(again.estimator_.weights_, whole.estimator_.weights_, strict=True):
            assert np.array_equal(one, other)
        assert again.provenance_ == whole.provenance_

    def test_a_stopped_fit_to_another_table_is_not_continued(self, mixed, tmp_path, monkeypatch):
        monkeypatch.setattr("scca.progress._work._WORTH_STORING", 0.0)

        class StopError(Exception):
            pass

        def stop(what, done, total):
            if what == "features":
                raise StopError

        with pytest.raises(StopError):
            scca.Model(2, held_out=0).fit(mixed, progress=stop, checkpoint=tmp_path / "c")
        other = mixed | {"subjects": mixed["subjects"] * 2.0 + 1.0}
        with pytest.raises(ValueError, match="the beginning of a fit with other pairs"):
            scca.Model(2, held_out=0).fit(other, checkpoint=tmp_path / "c")

    def test_samples_are_found_in_parts(self, trilingual, monkeypatch):
        whole = trilingual.result()
        monkeypatch.setattr("scca.model._describe._ROWS", 7)
        in_parts = trilingual.result()
        for one, other in zip(whole.components, in_parts.components, strict=True):
            for mine, its in zip(one.views, other.views, strict=True):
                assert [s.index for s in mine.samples] == [s.index for s in its.samples]


class TestKinds:
    def test_are_found(self, of_kinds):
        assert [type(kind) for kind in of_kinds.kinds_] == [TextVectorizer, TableKind, VectorKind]
        assert of_kinds.estimator_.scales_ == ["rows", "both", "rows"]
        assert of_kinds.estimator_.rendering_ == ["joint", "sparse", "dense"]

    def test_the_column_of_a_subject_goes_with_its_documents(self, corpus, of_kinds):
        result = of_kinds.result()
        subjects = [c.views[1].features[0].name for c in result.components]
        assert "noise" not in subjects
        assert len(set(subjects)) >= 5
        for c, subject in zip(result.components, subjects, strict=True):
            if c.views[1].features[0].loading > 0:  # otherwise the component is about the lack of the subject
                about = [corpus.subjects[sample.index] for sample in c.views[0].samples]
                assert max(set(about), key=about.count) == subject
        assert all(not c.views[2].features for c in result.components)  # single dimensions mean nothing

    def test_rows_have_their_labels(self, of_kinds):
        samples = of_kinds.result().components[0].views
        assert [s.name for s in samples[1].samples] == [f"d{s.index}" for s in samples[0].samples]
        assert all(s.name is None for s in samples[2].samples)

    def test_mates_between_kinds(self, mixed, of_kinds):
        found = of_kinds.mates(mixed["en"][:20], mixed["subjects"], source="en", target="subjects", top=5)
        rows = mixed["subjects"].to_numpy()[:, :-1].argmax(axis=1)
        assert np.mean([rows[found.indices[i, 0]] == rows[i] for i in range(20)]) > 0.8
        assert found.known.all()

    def test_columns_go_by_their_names(self, mixed, of_kinds):
        table = mixed["subjects"]
        scores = of_kinds.project(table, "subjects")
        more = table[table.columns[::-1]].assign(other=1.0)
        np.testing.assert_allclose(of_kinds.project(more, "subjects"), scores)
        with pytest.raises(
            ValueError, match="lacks 1 of the 16 columns that the model was fitted with .'noise'.: add them"
        ):
            of_kinds.project(table.drop(columns="noise"), "subjects")
        with pytest.raises(
            ValueError, match="have 15 dimensions, and the model was fitted with 16: use the same encoder"
        ):
            of_kinds.project(np.zeros((2, 15)), "vectors")

    def test_are_stored(self, mixed, of_kinds, tmp_path):
        scca.save(of_kinds, tmp_path / "m")
        again = scca.load(tmp_path / "m")
        assert again.result() == of_kinds.result()
        for name, samples in mixed.items():
            assert np.array_equal(again.project(samples, name), of_kinds.project(samples, name))

    def test_words_are_linked_between_texts_only(self, of_kinds):
        with pytest.raises(ValueError, match=r"two views of text; this model has en \(text\), subjects \(table\)"):
            translate(of_kinds, "judge")

    def test_a_kernel_and_groups(self, mixed):
        labels = np.repeat(np.arange(50), 3)
        model = scca.Model(2, kernel=["linear", "linear", scca.Kernel("rbf", gamma=0.01)], held_out=2)
        model.fit(mixed, groups=labels)
        assert model.estimator_.are_dual_ == (False, False, True)
        assert model.result().views[2].weights_on == "samples"


class TestRefused:
    def test_views(self, languages):
        with pytest.raises(ValueError, match="at least 2 views with names are needed"):
            scca.Model().fit({"en": languages["en"]})
        with pytest.raises(ValueError, match="en, fr have 120, 3: sample i of each must be the same thing"):
            scca.Model().fit({"en": languages["en"], "fr": languages["fr"][:3]})
        with pytest.raises(ValueError, match="fit takes a mapping"):
            scca.Model().fit([languages["en"], languages["fr"]])
        with pytest.raises(ValueError, match="odd is a set, which no kind of view takes"):
            scca.Model().fit({"en": ["a cat", "a dog"], "odd": {1, 2}})

    def test_kinds(self, languages):
        with pytest.raises(ValueError, match="kinds must be one of .*; got 'words'"):
            scca.Model(kinds="words").fit(languages)
        with pytest.raises(ValueError, match="kinds names the view 'de'; the views are en, fr, es"):
            scca.Model(kinds={"de": "text"}).fit(languages)
        with pytest.raises(TypeError, match="a kind must be a subclass of"):
            scca.kinds.register(object)

    def test_generation_by_a_kernel(self, languages):
        model = scca.Model(2, kernel=["linear", "rbf", "linear"], held_out=0).fit(languages)
        with pytest.raises(ValueError, match="the model reads fr by a kernel"):
            generate(model, ["un juge"], source="fr", target="en")
        assert generate(model, ["the judge"], source="en", target="fr")[0].words
