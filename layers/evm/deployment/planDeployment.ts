/**
 * What is still to be sent so that a chain has what its file says. The plan is made of the chain's present state alone,
 * so a deployment that was interrupted goes on from a new plan, and one that is whole has nothing to send.
 */
import { Effect } from "effect"
import {
  type Abi,
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  keccak256,
  zeroAddress
} from "viem"
import { multicall3 } from "#layers/evm/contracts.ts"
import { DeploymentRefused } from "#layers/evm/deployment/DeploymentRefused.ts"
import {
  ask,
  create2Deployer,
  type DeploymentTarget,
  noSalt,
  type OwnContract,
  ownContracts,
  strangeContracts
} from "#layers/evm/deployment/DeploymentTarget.ts"
import { callBytes, inspectSurroundings } from "#layers/evm/deployment/inspectSurroundings.ts"
import { type RegistryEntry, registryEntries } from "#layers/evm/deployment/registryEntries.ts"

/** One transaction. */
export interface DeploymentStep {
  readonly words: string
  /** Whose transaction it must be; null where anybody may send it. */
  readonly from: Address | null
  readonly to: Address
  readonly data: Hex
  /** Gas that it takes, about: what rehearsals took, with a margin. */
  readonly gas: bigint
}

export interface DeploymentPlan {
  /** What was found as the file has it, a sentence each. */
  readonly asListed: ReadonlyArray<string>
  readonly wrong: ReadonlyArray<string>
  readonly unpinned: ReadonlyArray<string>
  readonly steps: ReadonlyArray<DeploymentStep>
  /** Changes of a sealed guard that were announced and may not be made yet. */
  readonly waiting: ReadonlyArray<string>
  readonly guard: Address
  readonly addresses: ReadonlyArray<Pick<OwnContract, "name" | "address">>
}

const stepGas = {
  WithdrawalExecutor: 1_500_000n,
  Erc1271OwnerValidator: 600_000n,
  RoutedSwap: 800_000n,
  TradeGuard: 7_500_000n
} as Readonly<Record<string, bigint>>
const changeGas = 120_000n

const deployStep = ({ address, initCode, name }: OwnContract): DeploymentStep => ({
  words: `deploy ${name} to ${address}`,
  from: null,
  to: create2Deployer,
  data: concat([noSalt, initCode]),
  gas: stepGas[name]!
})

/** What a guard shows of itself. */
interface GuardState {
  readonly administrator: Address
  readonly guardian: Address
  readonly attestor: Address
  readonly isPaused: boolean
  readonly isSealed: boolean
  /** Entries that are not there as listed. */
  readonly lacking: ReadonlyArray<RegistryEntry>
}

const keysEntry = ({ administrator, attestor, guardian }: DeploymentTarget["keys"]): RegistryEntry => {
  const key = (functionName: string, address: Address) => ({
    functionName,
    args: [],
    isAsListed: (answer: unknown) => isAddressEqual(answer as Address, address)
  })
  const attesting = attestor ?? zeroAddress
  return {
    words: `give the guard administrator ${administrator}, guardian ${guardian} and attestor ${attestor ?? "nobody"}`,
    functionName: "setKeys",
    args: [administrator, guardian, attesting],
    reads: [key("administrator", administrator), key("guardian", guardian), key("attestor", attesting)]
  }
}

/** `GuardRegistry.State`, as far as it is read. */
interface ShownState {
  readonly isPaused: boolean
  readonly isSealed: boolean
}

/** The contract calls of the guard and of its registry. */
const guardAbi = ({ compiled }: DeploymentTarget): Abi => [
  ...compiled("TradeGuard").abi,
  ...compiled("RegistryChanges").abi
]

const readGuard = Effect.fnUntraced(function* (target: DeploymentTarget, guard: Address) {
  const abi = guardAbi(target)
  const entries = [...registryEntries(target.file), keysEntry(target.keys)]
  const own = ["administrator", "guardian", "attestor", "state"].map((functionName) => ({
    functionName,
    args: [] as ReadonlyArray<unknown>
  }))
  const reads = [...own, ...entries.flatMap(({ reads }) => reads)]
  const answers = yield* ask(
    "what its guard has",
    () =>
      target.client.multicall({
        contracts: reads.map(({ args, functionName }) => ({ address: guard, abi, functionName, args })),
        multicallAddress: multicall3,
        batchSize: callBytes,
        allowFailure: false
      }) as Promise<ReadonlyArray<unknown>>
  )
  const [administrator, guardian, attestor, state] = answers as readonly [Address, Address, Address, ShownState]
  let next = own.length
  const lacking = entries.filter(({ reads }) => {
    const shown = answers.slice(next, (next += reads.length))
    return !reads.every(({ isAsListed }, index) => isAsListed(shown[index]))
  })
  return {
    administrator,
    guardian,
    attestor,
    isPaused: state.isPaused,
    isSealed: state.isSealed,
    lacking
  } satisfies GuardState
})

/** The state of a guard that is not deployed yet. */
const unmade = ({ file, keys }: DeploymentTarget): GuardState => ({
  administrator: keys.deployer,
  guardian: keys.guardian,
  attestor: zeroAddress,
  isPaused: false,
  isSealed: false,
  lacking: [
    ...registryEntries(file),
    ...(keys.attestor === null && keys.administrator === keys.deployer ? [] : [keysEntry(keys)])
  ]
})

/** Steps of an open guard: every entry at once, the keys last, and then the seal by its administrator of then. */
const openSteps = (target: DeploymentTarget, guard: Address, { administrator, lacking }: GuardState) => {
  const abi = guardAbi(target)
  const call = (from: Address, { args, functionName, words }: Omit<RegistryEntry, "reads">): DeploymentStep => ({
    words,
    from,
    to: guard,
    data: encodeFunctionData({ abi, functionName, args }),
    gas: changeGas
  })
  const seal = { words: "seal the guard: from then on additions wait two days", functionName: "seal", args: [] }
  return [...lacking.map((entry) => call(administrator, entry)), call(target.keys.administrator, seal)]
}

/** Seconds for which an announced change may be made (`GRACE` in contracts/GuardRegistry.sol). */
const grace = 1_209_600n

const iso = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString()

/** Steps of a sealed guard: what is lacking is announced first, and made two days later. */
const sealedSteps = Effect.fnUntraced(function* (target: DeploymentTarget, guard: Address, state: GuardState) {
  const abi = guardAbi(target)
  const calls = state.lacking.map((entry) => ({ ...entry, data: encodeFunctionData({ abi, ...entry }) }))
  const times = (yield* ask(
    "for announced changes",
    () =>
      target.client.multicall({
        contracts: calls.map(({ data }) => ({
          address: guard,
          abi,
          functionName: "scheduled",
          args: [keccak256(data)]
        })),
        multicallAddress: multicall3,
        batchSize: callBytes,
        allowFailure: false
      }) as Promise<ReadonlyArray<unknown>>
  )) as ReadonlyArray<bigint>
  const { timestamp: now } = yield* ask("for its latest block", () => target.client.getBlock())
  const step = (words: string, data: Hex): DeploymentStep => ({
    words,
    from: state.administrator,
    to: guard,
    data,
    gas: changeGas
  })
  const waiting: Array<string> = []
  const steps = calls.flatMap(({ data, words }, index) => {
    const from = times[index]!
    if (from > now) {
      waiting.push(`${words}: announced, and may be made from ${iso(from)} to ${iso(from + grace)}`)
      return []
    }
    return from > 0n && now <= from + grace
      ? [step(words, data)]
      : [
          step(
            `announce, two days before it may be made: ${words}`,
            encodeFunctionData({ abi, functionName: "schedule", args: [data] })
          )
        ]
  })
  return { steps, waiting }
})

/** Plans a deployment; it sends nothing. Fails where the chain does not answer. */
export const planDeployment = Effect.fn("planDeployment")(function* (target: DeploymentTarget) {
  const own = ownContracts(target)
  const guard = own.at(-1)!
  const nothing = { steps: [], waiting: [], guard: guard.address, addresses: own }
  const strange = strangeContracts(own)
  if (strange.length > 0) return { ...nothing, asListed: [], unpinned: [], wrong: strange } satisfies DeploymentPlan
  const surroundings = yield* inspectSurroundings(target)
  if (surroundings.wrong.length > 0) return { ...nothing, ...surroundings } satisfies DeploymentPlan
  const codes = yield* Effect.forEach(
    own,
    (contract) =>
      Effect.map(
        ask(`for the code of ${contract.name}`, () => target.client.getCode(contract)),
        (code) => ({ contract, code })
      ),
    { concurrency: "unbounded" }
  )
  const wrong = codes.flatMap(({ code, contract }) =>
    code === undefined || contract.isIts(code)
      ? []
      : [`${contract.name} (${contract.address}) has other code than this release`]
  )
  if (wrong.length > 0) return { ...nothing, ...surroundings, wrong } satisfies DeploymentPlan
  const isMade = codes.at(-1)!.code !== undefined
  const state = isMade ? yield* readGuard(target, guard.address) : unmade(target)
  const strangers = [target.keys.deployer, target.keys.administrator].includes(state.administrator)
    ? []
    : [
        `the guard's administrator is ${state.administrator}, and the keys name ${target.keys.deployer} and ${target.keys.administrator}`
      ]
  const paused = state.isPaused
    ? ["the guard is paused: its administrator schedules unpause, and makes it two days later"]
    : []
  const changes = state.isSealed
    ? yield* sealedSteps(target, guard.address, state)
    : { steps: openSteps(target, guard.address, state), waiting: [] }
  return {
    ...nothing,
    ...surroundings,
    asListed: [
      ...surroundings.asListed,
      ...codes.flatMap(({ code, contract }) =>
        code === undefined ? [] : [`${contract.name} (${contract.address}) has the code of this release`]
      ),
      ...(isMade
        ? [...registryEntries(target.file), keysEntry(target.keys)]
            .filter((entry) => !state.lacking.some(({ words }) => words === entry.words))
            .map(({ words }) => `done: ${words}`)
        : [])
    ],
    wrong: [...strangers, ...paused],
    steps: [
      ...codes.flatMap(({ code, contract }) => (code === undefined ? [deployStep(contract)] : [])),
      ...changes.steps
    ],
    waiting: changes.waiting
  } satisfies DeploymentPlan
})

/** Fails with what keeps a plan from being carried out. */
export const requireReady = (
  { unpinned, wrong }: DeploymentPlan,
  file: string
): Effect.Effect<void, DeploymentRefused> => {
  const reasons = [
    ...wrong,
    ...unpinned.map((line) => `${line}: compare it with the chain's explorer, and write it into ${file}`)
  ]
  return reasons.length === 0 ? Effect.void : Effect.fail(new DeploymentRefused({ reasons }))
}
