/**
 * Compiles `sandbox/contracts` and writes `{ContractName: {abi, creation, runtime}}` to the file named as argument.
 *
 * A program of its own, because the WebAssembly compiler blocks for seconds and keeps its memory.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

interface CompilerOutput {
  readonly errors?: ReadonlyArray<{ readonly severity: string; readonly formattedMessage: string }>
  readonly contracts?: Record<
    string,
    Record<
      string,
      {
        readonly abi: unknown
        readonly evm: {
          readonly bytecode: { readonly object: string }
          readonly deployedBytecode: { readonly object: string }
        }
      }
    >
  >
}

const target = process.argv[2]
if (target === undefined) throw new Error("usage: node sandbox/compile.ts <output file>")

const folder = join(import.meta.dirname, "contracts")
const modules = join(import.meta.dirname, "..", "node_modules")
const files = readdirSync(folder).filter((file) => file.endsWith(".sol"))

const input = {
  language: "Solidity",
  sources: Object.fromEntries(files.map((file) => [file, { content: readFileSync(join(folder, file), "utf8") }])),
  settings: {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: "cancun",
    metadata: { bytecodeHash: "none" },
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } }
  }
}

const solc = createRequire(import.meta.url)("solc") as {
  readonly compile: (
    input: string,
    callbacks: { readonly import: (path: string) => { readonly contents: string } }
  ) => string
}
const output = JSON.parse(
  solc.compile(JSON.stringify(input), { import: (path) => ({ contents: readFileSync(join(modules, path), "utf8") }) })
) as CompilerOutput

const errors = (output.errors ?? []).filter((error) => error.severity === "error")
if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join("\n"))

const compiled = Object.fromEntries(
  files.flatMap((file) =>
    Object.entries(output.contracts?.[file] ?? {})
      .filter(([, contract]) => contract.evm.bytecode.object !== "")
      .map(([name, contract]) => [
        name,
        {
          abi: contract.abi,
          creation: `0x${contract.evm.bytecode.object}`,
          runtime: `0x${contract.evm.deployedBytecode.object}`
        }
      ])
  )
)

mkdirSync(dirname(target), { recursive: true })
const draft = `${target}.${process.pid}`
writeFileSync(draft, JSON.stringify(compiled))
renameSync(draft, target)
