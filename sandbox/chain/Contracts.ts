/**
 * The contracts that the world installs: from their packages, from `contracts` and from `sandbox/contracts`.
 *
 * Our own Solidity is kept compiled in `compiled.json`, because compiling takes longer than everything else that a
 * first start does; a test proves that it is what the sources compile to. Sources that differ from it are compiled once
 * into
 * `node_modules/.cache`. Foreign bytecode is read from the packages that publish it, pinned by hash where the resulting
 * address would not prove it.
 */
import { Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { type Abi, concat, type Hex, keccak256, pad } from "viem"
import { canonical } from "#sandbox/chain/canonical.ts"
import { sourcesHash } from "#sandbox/chain/sourcesHash.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

const modules = join(import.meta.dirname, "../..", "node_modules")

/** What `npm run contracts` wrote. */
const keptFile = join(import.meta.dirname, "compiled.json")

const kernelFile = "@rhinestone/modulekit/src/deployment/precompiles/KernelPrecompiles.sol"
const kernelFileSha256 = "3dd4cc8a7b9d05bd016a05b2c469e630d5965a372069e972844fc019e2999411"
const multicall3File = "viem/constants/contracts.ts"

const Hexadecimal = Schema.String.check(Schema.isPattern(/^0x([0-9a-f]{2})+$/u))
const AbiJson = Schema.Array(Schema.Unknown)
const Compiled = Schema.fromJsonString(
  Schema.Struct({
    sources: Schema.String,
    contracts: Schema.Record(
      Schema.String,
      Schema.Struct({ abi: AbiJson, creation: Hexadecimal, runtime: Hexadecimal })
    )
  })
)
const Artifact = Schema.fromJsonString(Schema.Struct({ abi: AbiJson, bytecode: Schema.String }))

/** A contract ready to be deployed. */
export interface Contract {
  readonly abi: Abi
  readonly creation: Hex
}

/**
 * A contract of `contracts` or `sandbox/contracts`: it can be placed by its runtime code, having no constructor
 * arguments.
 */
export interface OwnContract extends Contract {
  readonly runtime: Hex
}

/** Everything that one chain gets. */
export interface Contracts {
  readonly entryPoint: Contract
  readonly kernel: Hex
  readonly kernelFactory: Hex
  readonly multicall3: Hex
  readonly uniswapFactory: Contract
  readonly uniswapRouter: Contract
  readonly weth: Contract
  readonly own: (name: string) => OwnContract
}

const missing = (path: string, cause: unknown) =>
  new SandboxFailure({
    message: `Could not read ${path} from node_modules. Install the development packages (npm install) and start again`,
    cause
  })

const readPackage = (path: string) =>
  Effect.try({ try: () => readFileSync(join(modules, path), "utf8"), catch: (cause) => missing(path, cause) })

const readArtifact = Effect.fnUntraced(function* (path: string): Effect.fn.Return<Contract, SandboxFailure> {
  const artifact = yield* Schema.decodeUnknownEffect(Artifact)(yield* readPackage(path)).pipe(
    Effect.mapError((cause) => missing(path, cause))
  )
  const creation = artifact.bytecode.startsWith("0x") ? artifact.bytecode : `0x${artifact.bytecode}`
  return { abi: artifact.abi as Abi, creation: creation as Hex }
})

const refuse = (path: string) =>
  new SandboxFailure({
    message: `${path} in node_modules is not the file this version was tested with. Run npm install to restore the pinned packages`
  })

const readKernel = Effect.gen(function* () {
  const text = yield* readPackage(kernelFile)
  if (createHash("sha256").update(text).digest("hex") !== kernelFileSha256) return yield* refuse(kernelFile)
  const constant = (name: string) => `0x${new RegExp(`${name}\\s*=\\s*hex"([0-9a-f]+)"`).exec(text)?.[1] ?? ""}` as Hex
  return {
    kernel: concat([constant("KERNEL_BYTECODE"), pad(canonical.entryPoint)]),
    kernelFactory: concat([constant("KERNEL_FACTORY_BYTECODE"), pad(canonical.kernel)])
  }
})

/** Keccak-256 of Multicall3's creation code. */
const multicall3Hash = "0x0388a0d41a63e5bbe5b1005f52975ef622c77817a483f36849c5447365555071"

const readMulticall3 = Effect.gen(function* () {
  const text = yield* readPackage(multicall3File)
  const code = /multicall3Bytecode\s*=\s*'(0x[0-9a-f]+)'/.exec(text)?.[1] as Hex | undefined
  return code === undefined || keccak256(code) !== multicall3Hash ? yield* refuse(multicall3File) : code
})

const readCompiledFile = (file: string) =>
  Effect.try({ try: () => readFileSync(file, "utf8"), catch: (cause) => cause }).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Compiled)),
    Effect.mapError(
      (cause) =>
        new SandboxFailure({
          message: `Could not read the compiled contracts ${file}. Delete it and start again`,
          cause
        })
    )
  )

/** Compiles the sources as they are now, unless that was done before. */
const compileSources = Effect.fnUntraced(function* (sources: string) {
  const file = join(modules, ".cache", "ballast", `contracts-${sources}.json`)
  if (!existsSync(file)) {
    yield* Effect.tryPromise({
      try: (signal) =>
        promisify(execFile)(process.execPath, [join(import.meta.dirname, "compile.ts"), file], {
          signal,
          timeout: 120_000
        }),
      catch: (cause) =>
        new SandboxFailure({ message: "The contracts in contracts and sandbox/contracts did not compile", cause })
    })
  }
  return yield* readCompiledFile(file)
})

const readCompiled = Effect.gen(function* () {
  const sources = yield* Effect.try({ try: sourcesHash, catch: (cause) => missing("the packages of contracts", cause) })
  const kept = existsSync(keptFile) ? yield* readCompiledFile(keptFile) : undefined
  const { contracts } = kept?.sources === sources ? kept : yield* compileSources(sources)
  return contracts
})

const read: Effect.Effect<Contracts, SandboxFailure> = Effect.gen(function* () {
  const compiled = yield* readCompiled
  return {
    ...(yield* readKernel),
    multicall3: yield* readMulticall3,
    entryPoint: yield* readArtifact("@account-abstraction/contracts/artifacts/EntryPoint.json"),
    uniswapFactory: yield* readArtifact("@uniswap/v2-core/build/UniswapV2Factory.json"),
    uniswapRouter: yield* readArtifact("@uniswap/v2-periphery/build/UniswapV2Router02.json"),
    weth: yield* readArtifact("canonical-weth/build/contracts/WETH9.json"),
    own: (name: string) => {
      const contract = compiled[name]
      if (contract === undefined) throw new Error(`No contract is named ${name}`)
      return { abi: contract.abi as Abi, creation: contract.creation as Hex, runtime: contract.runtime as Hex }
    }
  }
})

/**
 * Reads or compiles everything, once a process: seconds on the first run after a change of sources, milliseconds later.
 */
export const loadContracts: Effect.Effect<Contracts, SandboxFailure> = Effect.runSync(Effect.cached(read))
