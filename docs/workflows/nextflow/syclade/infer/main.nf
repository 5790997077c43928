process SYCLADE_INFER {
    tag "$meta.id"
    label 'process_low'

    conda "${moduleDir}/environment.yml"

    input:
    tuple val(meta), path(matrix), path(names)

    output:
    tuple val(meta), path("${prefix}/tree.newick")     , emit: tree
    tuple val(meta), path("${prefix}/consensus.newick"), emit: consensus, optional: true
    tuple val(meta), path("${prefix}/clones.tsv")      , emit: clones   , optional: true
    tuple val(meta), path("${prefix}/support.tsv")     , emit: support  , optional: true
    tuple val(meta), path("${prefix}/summary.json")    , emit: summary
    tuple val(meta), path("${prefix}/run.json")        , emit: run
    tuple val(meta), path("${prefix}/report.html")     , emit: report   , optional: true
    path "${prefix}/syclade_mqc.json"                  , emit: multiqc
    path "versions.yml"                                , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def names_of = names ? "--names ${names}" : ''
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    syclade infer ${matrix} ${names_of} --threads ${task.cpus} --multiqc --out ${prefix} ${args}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        syclade: \$(syclade --version | sed 's/.* //')
    END_VERSIONS
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    mkdir ${prefix}
    touch ${prefix}/{tree.newick,summary.json,run.json,syclade_mqc.json}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        syclade: \$(syclade --version | sed 's/.* //')
    END_VERSIONS
    """
}
