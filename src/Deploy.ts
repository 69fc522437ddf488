/**
 * Puts Ballast's contracts on a chain: `npm run deploy -- plan|apply|verify --chain 8453`. What the chain has before is
 * in deploy/chains/<id>.json, the addresses of the keys in deploy/keys.json, and the chain's endpoint in
 * RPC_URL_<chainId>. See docs/deploying-contracts.md.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Clock, Console, Effect, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  type Address,
  createPublicClient,
  formatEther,
  formatGwei,
  getAddress,
  http,
  isAddress,
  type PublicClient
} from "viem"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import { ChainId } from "#domain/values/Caip.ts"
import { applyDeployment, stepsOf, stepsOfOthers } from "#layers/evm/deployment/applyDeployment.ts"
import { decodeChainFile, decodeKeys } from "#layers/evm/deployment/ChainFile.ts"
import { DeploymentRefused } from "#layers/evm/deployment/DeploymentRefused.ts"
import { ask, create2Deployer, type DeploymentTarget } from "#layers/evm/deployment/DeploymentTarget.ts"
import { findUnlisted } from "#layers/evm/deployment/findUnlisted.ts"
import { keyedSender } from "#layers/evm/deployment/keyedSender.ts"
import {
  type DeploymentPlan,
  type DeploymentStep,
  planDeployment,
  requireReady
} from "#layers/evm/deployment/planDeployment.ts"
import { safeBundles } from "#layers/evm/deployment/safeBundle.ts"
import { loadContracts } from "#sandbox/chain/Contracts.ts"
import { keyFile } from "#src/config/keyFile.ts"
import { secretUrl } from "#src/config/kinds.ts"
import { required, type Setting } from "#src/config/Setting.ts"
import manifest from "../package.json" with { type: "json" }

const checkedIn = (path: string) => fileURLToPath(new URL(`../deploy/${path}`, import.meta.url))

const common = {
  chain: Flag.Int("chain").pipe(Flag.withDescription("Id of the chain, such as 8453"), Flag.withSchema(ChainId)),
  files: Flag.String("files").pipe(
    Flag.withDescription("Folder with the chain's file, if not that of this checkout"),
    Flag.withDefault(checkedIn("chains"))
  ),
  keys: Flag.String("keys").pipe(
    Flag.withDescription("File with the addresses of deployer, administrator, guardian and attestor"),
    Flag.withDefault(checkedIn("keys.json"))
  )
}

interface Common {
  readonly chain: ChainId
  readonly files: string
  readonly keys: string
}

const refuse = (...reasons: ReadonlyArray<string>) => new DeploymentRefused({ reasons })

const read = (path: string) =>
  Effect.try({ try: () => readFileSync(path, "utf8"), catch: () => refuse(`${path} cannot be read; is it there?`) })

const setting = <A>(reading: Setting<A>) => Effect.mapError(reading, (problems) => refuse(...problems))

interface Opened {
  readonly target: DeploymentTarget
  readonly client: PublicClient
  readonly transport: ReturnType<typeof http>
  readonly path: string
}

const open = Effect.fnUntraced(function* ({ chain, files, keys }: Common): Effect.fn.Return<Opened, DeploymentRefused> {
  const path = join(files, `${chain}.json`)
  const file = yield* decodeChainFile(path, yield* read(path))
  if (file.chainId !== chain) return yield* refuse(`${path}: chainId: is ${file.chainId}, and --chain is ${chain}`)
  const owners = yield* decodeKeys(keys, yield* read(keys))
  const url = yield* setting(
    required(`RPC_URL_${chain}`, secretUrl(["https:", "http:"], "https://base.example.com/v1/key"))
  )
  const { own } = yield* Effect.mapError(loadContracts, ({ message }) => refuse(message))
  const transport = http(Redacted.value(url))
  const client = createPublicClient({ transport })
  return { client, transport, path, target: { file, keys: owners, compiled: own, client } }
})

const amount = (gas: bigint) => gas.toLocaleString("en-US")

/** What the deterministic deployer makes can be estimated before; calls of a guard that is not there cannot. */
const estimated = ({ client, target }: Opened, step: DeploymentStep) =>
  step.to === create2Deployer
    ? Effect.orElseSucceed(
        Effect.tryPromise(() => client.estimateGas({ account: target.keys.deployer, to: step.to, data: step.data })),
        () => step.gas
      )
    : Effect.succeed(step.gas)

const costs = Effect.fnUntraced(function* (opened: Opened, gas: bigint) {
  const price = yield* ask("for its gas price", () => opened.client.getGasPrice())
  const coin = nativeCoinOn(opened.target.file.chainId)?.symbol ?? "native coins"
  return `About ${amount(gas)} gas in all: ${formatEther(gas * price)} ${coin} at ${formatGwei(price)} gwei, without what a rollup asks for the bytes.`
})

const settingsOf = ({ addresses, guard }: DeploymentPlan, chain: ChainId) => {
  const routedSwap = addresses.find(({ name }) => name === "RoutedSwap")
  return [
    `The service's settings: TRADE_GUARD_${chain}=${guard}`,
    ...(routedSwap === undefined ? [] : [`                        ROUTED_SWAP_${chain}=${routedSwap.address}`])
  ]
}

const findingLines = ({ asListed, unpinned, waiting, wrong }: DeploymentPlan) => [
  ...asListed.map((line) => `ok       ${line}`),
  ...waiting.map((line) => `waits    ${line}`),
  ...unpinned.map((line) => `UNPINNED ${line}`),
  ...wrong.map((line) => `WRONG    ${line}`)
]

const heading = ({ path, target }: Opened) => `${target.file.name} (${target.file.chainId}), ${path}`

const plan = Command.make(
  "plan",
  common,
  Effect.fn(function* (given) {
    const opened = yield* open(given)
    const planned = yield* planDeployment(opened.target)
    const gas = yield* Effect.forEach(planned.steps, (step) => estimated(opened, step))
    const total = gas.reduce((sum, one) => sum + one, 0n)
    const lines = planned.steps.map(
      ({ from, words }, index) =>
        `${`${index + 1}`.padStart(3)}. ${words}; by ${from ?? "anybody"}, about ${amount(gas[index]!)} gas`
    )
    yield* Console.log(
      [
        heading(opened),
        ...findingLines(planned),
        ...(lines.length === 0 ? ["Nothing is to be sent."] : ["To be sent:", ...lines, yield* costs(opened, total)]),
        ...settingsOf(planned, given.chain),
        "Nothing was sent."
      ].join("\n")
    )
    yield* requireReady(planned, opened.path)
  })
).pipe(Command.withDescription("Show what would be sent, in words, and what it costs; sends nothing"))

const address = Schema.String.check(
  Schema.makeFilter((text) => isAddress(text), { message: "Expected an address of 20 bytes with a valid checksum" })
)

interface Sent extends Opened {
  readonly planned: DeploymentPlan
}

const writeBundles = Effect.fnUntraced(function* ({ planned, target }: Sent, safe: Address, folder: string) {
  const { chainId } = target.file
  const bundles = safeBundles(stepsOf(planned, safe), { chainId, safe, createdAt: yield* Clock.currentTimeMillis })
  const paths = bundles.map((_, index) => join(folder, `safe-${chainId}-${index + 1}.json`))
  yield* Effect.try({
    try: () => bundles.forEach((bundle, index) => writeFileSync(paths[index]!, `${JSON.stringify(bundle, null, 2)}\n`)),
    catch: () => refuse(`${folder} cannot be written; name another folder by --out`)
  })
  yield* Console.log(
    paths.length === 0
      ? `Nothing is to be sent by ${safe}.`
      : [
          `Load these in the Safe's Transaction Builder, in this order, and have them signed: ${paths.join(", ")}`,
          "Then run apply again, which says whether anything is left."
        ].join("\n")
  )
})

const othersText = (planned: DeploymentPlan, sender: Address) => {
  const [first] = stepsOfOthers(planned, sender)
  return first === undefined
    ? []
    : [`Left for ${first.from}: ${first.words}. If that is a Safe, run apply --safe ${first.from}.`]
}

const apply = Command.make(
  "apply",
  {
    ...common,
    keyFile: Flag.String("key-file").pipe(
      Flag.withDescription("File with the deployer's private key, which its owner alone may read"),
      Flag.optional
    ),
    safe: Flag.String("safe").pipe(
      Flag.withDescription("Address of a Safe: writes bundles for its Transaction Builder instead of sending"),
      Flag.withSchema(address),
      Flag.optional
    ),
    out: Flag.String("out").pipe(Flag.withDescription("Folder for bundles of a Safe"), Flag.withDefault("."))
  },
  Effect.fn(function* ({ keyFile: path, out, safe, ...given }) {
    if (Option.isSome(path) === Option.isSome(safe))
      return yield* refuse("Name the key by --key-file, or a Safe by --safe: one of both.")
    const opened = yield* open(given)
    if (Option.isSome(safe)) {
      const planned = yield* planDeployment(opened.target)
      yield* requireReady(planned, opened.path)
      const owner = getAddress(safe.value)
      yield* writeBundles({ ...opened, planned }, owner, out)
      return yield* Console.log(othersText(planned, owner).join("\n"))
    }
    const key = yield* setting(keyFile("--key-file", Option.getOrThrow(path)))
    // What an earlier run sent has landed before the plan is made.
    const sender = yield* keyedSender(key, opened.client, opened.transport)
    const planned = yield* planDeployment(opened.target)
    yield* requireReady(planned, opened.path)
    const sent = yield* applyDeployment(planned, sender, Console.log)
    yield* Console.log(
      [
        sent === 0 ? `Nothing is to be sent by ${sender.address}.` : `${sent} transactions were sent, and have landed.`,
        ...planned.waiting.map((line) => `Waits: ${line}`),
        ...othersText(planned, sender.address),
        ...settingsOf(planned, given.chain)
      ].join("\n")
    )
  })
).pipe(Command.withDescription("Send what is lacking, and seal the guard; what is there already is not sent again"))

const verify = Command.make(
  "verify",
  {
    ...common,
    fromBlock: Flag.Int("from-block").pipe(
      Flag.withDescription("A block before the guard was deployed, where an endpoint searches few blocks at once"),
      Flag.withSchema(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
      Flag.withDefault(0)
    )
  },
  Effect.fn(function* ({ fromBlock, ...given }) {
    const opened = yield* open(given)
    const planned = yield* planDeployment(opened.target)
    const unlisted =
      planned.wrong.length > 0
        ? []
        : yield* findUnlisted(opened.target.file, {
            client: opened.client,
            guard: planned.guard,
            fromBlock: BigInt(fromBlock)
          })
    const lacking = planned.steps.map(({ words }) => `not done: ${words}`)
    const found = { ...planned, wrong: [...planned.wrong, ...lacking, ...unlisted] }
    yield* Console.log([heading(opened), ...findingLines(found)].join("\n"))
    yield* requireReady(found, opened.path)
    yield* Console.log(
      [
        "The chain has what the file lists, and the guard lists nothing else. It is sealed.",
        ...settingsOf(planned, given.chain)
      ].join("\n")
    )
  })
).pipe(Command.withDescription("Read everything back from the chain, and compare it with the file"))

Command.make("deploy").pipe(
  Command.withDescription("Ballast's contracts on a chain"),
  Command.withSubcommands([plan, apply, verify]),
  Command.run({ version: manifest.version }),
  Effect.tapError((error) => ("message" in error ? Console.error(error.message) : Effect.void)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
