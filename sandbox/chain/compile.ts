/**
 * Compiles `contracts` and `sandbox/contracts` and writes `{sources, contracts: {Name: {abi, creation, runtime}}}` to
 * the file named as argument; `sources` is the hash of what was compiled.
 *
 * A program of its own, because the WebAssembly compiler blocks for seconds and keeps its memory.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { sourcesHash } from "#sandbox/chain/sourcesHash.ts"

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
if (target === undefined) throw new Error("usage: node sandbox/chain/compile.ts <output file>")

const root = join(import.meta.dirname, "../..")
const modules = join(root, "node_modules")

const solc = createRequire(import.meta.url)("solc") as {
  readonly compile: (
    input: string,
    callbacks: { readonly import: (path: string) => { readonly contents: string } }
  ) => string
}

/** Sources in the repository are named by their path; every other name is one of a package. */
const isOwn = (path: string) => path.startsWith("contracts/") || path.startsWith("sandbox/")
const read = (path: string) => readFileSync(join(isOwn(path) ? root : modules, path), "utf8")

const filesIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith(".sol"))
    .map((file) => `${folder}/${file}`)

/** Whether a file has code of its own; one of structs or abstract contracts is compiled with those that import it. */
const hasCode = (file: string) => /^(?:contract|library) /mu.test(read(file))

/**
 * What is compiled through the intermediate representation: the guard, to fit into a contract (EIP-170), and functions
 * of more arguments than the other pipeline has room for.
 */
const throughIr: ReadonlySet<string> = new Set(["contracts/TradeGuard.sol", "sandbox/contracts/SpokePool.sol"])

/** The contracts that these files define. Settings and grouping are part of what production addresses follow from. */
const compile = (files: ReadonlyArray<string>) => {
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(files.map((file) => [file, { content: read(file) }])),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      viaIR: files.some((file) => throughIr.has(file)),
      evmVersion: "cancun",
      metadata: { bytecodeHash: "none" },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } }
    }
  }
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), { import: (path) => ({ contents: read(path) }) })
  ) as CompilerOutput
  const errors = (output.errors ?? []).filter((error) => error.severity === "error")
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join("\n"))
  return files.flatMap((file) =>
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
}

// Each production contract by itself, so that no other file of the folder has a say in its code and address.
const contracts = Object.fromEntries([
  ...filesIn("contracts")
    .filter(hasCode)
    .flatMap((file) => compile([file])),
  ...compile(filesIn("sandbox/contracts").filter((file) => !throughIr.has(file))),
  ...filesIn("sandbox/contracts")
    .filter((file) => throughIr.has(file))
    .flatMap((file) => compile([file]))
])

mkdirSync(dirname(target), { recursive: true })
const draft = `${target}.${process.pid}`
writeFileSync(draft, `${JSON.stringify({ sources: sourcesHash(), contracts })}\n`)
renameSync(draft, target)
