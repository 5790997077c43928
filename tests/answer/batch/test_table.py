"""Tables of matrices: their columns and values, and messages with line and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from syclade.host.answer.batch.table import is_table, read_table
from syclade.host.ground.errors import TableError
from syclade.host.ground.options import Options


def table(folder: Path, text: str, name: str = "cohort.tsv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "name\tmatrix\tfn_rate\tmove-probs\tattach\n# no matrix\n\nA\tin/a.csv\t0.3\t1 2 3\tyes\n",
        "matrix,name,--fn-rate,move_probabilities,attach\r\nin/a.csv,A,0.3,1 2 3,true\r\n",
        "# a table\n\n\t \nname\tmatrix\tfn_rate\tmove-probs\tattach\nA\tin/a.csv\t0.3\t1 2 3\tyes\n",
        '"matrix" , name,fn-rate,"move-probs",attach\n "in/a.csv" ,"A",0.3,"1 2 3",1',
        '\ufeffname;matrix;fn_rate;move-probs;attach\r\n"A";in/a.csv;0,3;1 2 3;yes\r\n',
        "\ufeffname\tmatrix\tfn_rate\tmove-probs\tattach\n A \t in/a.csv\t0.3\t1  2 3\tYES\n",
    ],
)
def test_spellings(tmp_path: Path, text: str) -> None:
    path = table(tmp_path, text)
    assert is_table(path)
    (task,) = read_table(path, Options(fp_rate=0.01))
    assert task.name == "A"
    assert task.matrix == str(tmp_path / "in" / "a.csv")
    assert task.options == Options(fp_rate=0.01, fn_rate=0.3, move_probabilities=[1.0, 2.0, 3.0], attach=True)


def test_empty_cells_are_the_common_options_and_names_those_of_the_files(tmp_path: Path) -> None:
    path = table(tmp_path, "matrix\tseed\tnames\nx/a.csv.gz\t\tn.txt\n/b.vcf\t1\t\n")
    first, second = read_table(path, Options(seed=7))
    assert (first.name, second.name) == ("a", "b")
    assert first.options == Options(seed=7, names=str(tmp_path / "n.txt"))
    assert second.matrix == "/b.vcf"
    assert second.options == Options()  # 1 is the default


def test_commas_and_quotes(tmp_path: Path) -> None:
    (task,) = read_table(table(tmp_path, 'matrix,name\n"a,""b"".csv",x\n'), Options())
    assert task.matrix == str(tmp_path / 'a,"b".csv')
    (task,) = read_table(table(tmp_path, 'matrix;name\n"a;b,1.csv";x\n'), Options())
    assert task.matrix == str(tmp_path / "a;b,1.csv")


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("name\tmatrix\tfoo\np\ta\t1\n", "1:13", "unknown column 'foo'"),
        ("name\tmatrix\tstage\np\ta\t1\n", "1:13", "repeats columns of labels, such as label:stage"),
        ("name\tmatrix\tlabel:\np\ta\t1\n", "1:13", "the label has no name"),
        ("name\tmatrix\tlabel:state\np\ta\t1\n", "1:13", "results.tsv has a column state of its own"),
        ("matrix\tlabel:a\tlabel:a\na\t1\t1\n", "1:16", "twice"),
        ("name\tmatrix\tout\np\ta\t1\n", "1:13", "unknown column 'out'"),
        ("name\tmatrix\tfn_rate\tfn-rate\np\ta\t1\t1\n", "1:21", "twice"),
        ("name\tseed\np\t1\n", "1", "no column matrix"),
        ("name\tmatrix\n", "", "no matrices"),
        ("name\tmatrix\np\ta\nq\n", "3", "1 fields"),
        ("name\tmatrix\np\t\n", "2:3", "no matrix"),
        ("name\tmatrix\nab/c\ta\n", "2:1", "no name for a folder"),
        ("name\tmatrix\n\ta\n", "2:1", "the name is empty"),
        ("name\tmatrix\nRESULTS.tsv\ta\n", "2:1", "no name for a folder"),
        ("name\tmatrix\np\ta\n#\nP\tb\n", "4", "also that of line 2"),
        ("matrix\tfn_rate\na\t1.5\n", "2:3", "--fn-rate is 1.5"),
        ("matrix\tfn_rate\na\tabc\n", "2:3", "not a number"),
        ("matrix\tseed\na\t1.5\n", "2:3", "not a whole number"),
        ("matrix\tseed\na\t-1\n", "2:3", "--seed is -1"),
        ("matrix\tattach\na\tperhaps\n", "2:3", "use yes or no"),
        ("matrix\tmethod\na\tfast\n", "2:3", "--method is 'fast'"),
        ("matrix\tmove-probs\na\t1 2\n", "2:3", "give 3 numbers"),
        ("matrix\tsamples\na\t5\n", "2", "--samples without --steps"),
        ("matrix,x\na,1\n", "1:8", "unknown column 'x'"),
        ("matrix;fn_rate\na;1,5\n", "2:3", "--fn-rate is 1.5"),
        ("\n# a\nmatrix,x\na,1\n", "3:8", "unknown column 'x'"),
        ("matrix\tscheduler\na\tlocal:2\n", "1:8", "unknown column 'scheduler'"),
        ("matrix\tthreads\na\t2\n", "1:8", "unknown column 'threads'"),
        ("matrix\tformat\na\txlsx\n", "2", "--format is 'xlsx'"),
        ("matrix\tformat\tlayer\na\tvcf\tX\n", "2", "--layer does not go with --format vcf"),
        (
            "matrix\tformat\tevidence\na\tscite\treads\n",
            "2",
            "--evidence reads does not go with --format scite",
        ),
        ("matrix\tdevice\na\tcpu,,\n", "2", "--device is 'cpu,,'"),
        ("matrix\ttree\tmove-probs\na\tleaf\t1 1 1\n", "2", "no swaps of subtrees"),
    ],
)
def test_messages(tmp_path: Path, text: str, where: str, said: str) -> None:
    path = table(tmp_path, text)
    with pytest.raises(TableError) as caught:
        read_table(path, Options())
    assert caught.value.location() == ":".join((str(path), *filter(None, [where])))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text", ["0 1 1\n1 0 3\n", "cell\tg1\tg2\nc1\t0\t1\n", "", "name,matrixes\n", "# matrix,name\n0 1\n"]
)
def test_matrices_are_no_tables(tmp_path: Path, text: str) -> None:
    assert not is_table(table(tmp_path, text))
    assert not is_table(tmp_path)
