// Trees of the matrices of a sample sheet (CSV with the columns id, matrix and names):
//
//     nextflow run docs/workflows/nextflow/example.nf --input samples.csv --outdir results

include { SYCLADE_INFER } from './syclade/infer/main'

workflow {
    samples = Channel
        .fromPath(params.input)
        .splitCsv(header: true)
        .map { row -> [[id: row.id], file(row.matrix), row.names ? file(row.names) : []] }
    SYCLADE_INFER(samples)
    SYCLADE_INFER.out.tree.collectFile(storeDir: params.outdir) { meta, tree -> ["${meta.id}.newick", tree.text] }
}
