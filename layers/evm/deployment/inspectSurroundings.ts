/**
 * Whether a chain has what its file says is there before a deployment: the code of contracts of others by hash, tokens
 * and feeds by what they say of themselves. Doctor asks for the code alone.
 */
import { Effect } from "effect"
import { type Address, type Hex, keccak256, parseAbi } from "viem"
import { multicall3 } from "#layers/evm/contracts.ts"
import type { ChainFile } from "#layers/evm/deployment/ChainFile.ts"
import {
  ask,
  create2Deployer,
  create2DeployerCodeHash,
  type DeploymentTarget
} from "#layers/evm/deployment/DeploymentTarget.ts"
import { contractsOfOthers } from "#layers/evm/requiredContracts.ts"

/** What was found, a sentence each. */
export interface Surroundings {
  readonly asListed: ReadonlyArray<string>
  /** What differs or is absent: nothing may be sent. */
  readonly wrong: ReadonlyArray<string>
  /** Contracts whose code hash nobody has written into the file yet. */
  readonly unpinned: ReadonlyArray<string>
}

interface PinnedCode {
  readonly name: string
  readonly address: Address
  readonly codeHash: Hex | null
}

/** The contracts of others that a file names, each once. */
export const pinnedCodes = ({ bridges, contracts, venues }: ChainFile): ReadonlyArray<PinnedCode> => {
  const all = [
    ...contracts,
    ...venues.map(({ codeHash, name, target }) => ({ name, address: target, codeHash })),
    ...venues.flatMap(({ name, spender, target }) =>
      spender === null || spender === target
        ? []
        : [{ name: `the spender of ${name}`, address: spender, codeHash: null }]
    ),
    ...bridges
  ]
  const named = new Map<Address, PinnedCode>()
  for (const { address, codeHash, name } of all) {
    if (named.get(address)?.codeHash == null) named.set(address, { name, address, codeHash })
  }
  return [...named.values()]
}

/** Compares code that was read with what a file pins. */
export const compareCode = ({ address, codeHash, name }: PinnedCode, code: Hex | undefined): Surroundings => {
  const none = { asListed: [], wrong: [], unpinned: [] }
  if (code === undefined || code === "0x") return { ...none, wrong: [`${name} is not at ${address}: there is no code`] }
  const hash = keccak256(code)
  if (codeHash === null)
    return { ...none, unpinned: [`${name} (${address}) has no codeHash in the file; the chain's is ${hash}`] }
  return hash === codeHash
    ? { ...none, asListed: [`${name} (${address}) has the pinned code`] }
    : { ...none, wrong: [`${name} (${address}) has other code: ${hash}, where the file pins ${codeHash}`] }
}

const together = (parts: ReadonlyArray<Surroundings>): Surroundings => ({
  asListed: parts.flatMap(({ asListed }) => asListed),
  wrong: parts.flatMap(({ wrong }) => wrong),
  unpinned: parts.flatMap(({ unpinned }) => unpinned)
})

const describedAbi = parseAbi([
  "function decimals() view returns (uint8)",
  "function description() view returns (string)"
])

interface SelfDescription {
  readonly name: string
  readonly address: Address
  readonly functionName: "decimals" | "description"
  readonly expected: number | string
}

const selfDescriptions = ({ sequencer, tokens }: ChainFile): ReadonlyArray<SelfDescription> => {
  const feeds = [
    ...(sequencer === null ? [] : [sequencer]),
    ...tokens.flatMap(({ feed, secondFeed }) => [feed, secondFeed].filter((one) => one !== null && one !== undefined))
  ]
  return [
    ...tokens.map(({ address, decimals, symbol }): SelfDescription => ({
      name: symbol,
      address,
      functionName: "decimals",
      expected: decimals
    })),
    ...feeds.flatMap(({ address, decimals, description }): ReadonlyArray<SelfDescription> => {
      const name = `the feed ${description}`
      return [
        { name, address, functionName: "decimals", expected: decimals },
        { name, address, functionName: "description", expected: description }
      ]
    })
  ]
}

const describeThemselves = Effect.fnUntraced(function* ({ client, file }: Pick<DeploymentTarget, "client" | "file">) {
  const asked = selfDescriptions(file)
  const answers = yield* ask("what tokens and feeds say of themselves", () =>
    client.multicall({
      contracts: asked.map(({ address, functionName }) => ({ address, abi: describedAbi, functionName })),
      multicallAddress: multicall3,
      batchSize: callBytes
    })
  )
  return together(
    asked.map(({ address, expected, functionName, name }, index) => {
      const answer = answers[index]!
      const none = { asListed: [], wrong: [], unpinned: [] }
      if (answer.status !== "success")
        return { ...none, wrong: [`${name} (${address}) does not answer ${functionName}()`] }
      return answer.result === expected
        ? { ...none, asListed: [`${name} (${address}) says ${functionName} ${String(expected)}`] }
        : {
            ...none,
            wrong: [
              `${name} (${address}) says ${functionName} ${JSON.stringify(answer.result)}, where the file has ${JSON.stringify(expected)}`
            ]
          }
    })
  )
})

/** Calldata of one request that reads many things. */
export const callBytes = 32_768

/** Most requests for code at once. */
const codeConcurrency = 8

/** Compares the code of contracts of others alone. */
const inspectCode = Effect.fnUntraced(function* ({ client, file }: Pick<DeploymentTarget, "client" | "file">) {
  const listed = new Set<Address>(file.contracts.map(({ address }) => address))
  const unnamed = contractsOfOthers
    .filter(([, address]) => !listed.has(address))
    .map(([name, address]) => `the file does not list ${name} (${address})`)
  const codes = yield* Effect.forEach(
    [
      { name: "the deterministic deployer", address: create2Deployer, codeHash: create2DeployerCodeHash },
      ...pinnedCodes(file)
    ],
    (pinned) =>
      Effect.map(
        ask(`for the code of ${pinned.name}`, () => client.getCode(pinned)),
        (code) => compareCode(pinned, code)
      ),
    { concurrency: codeConcurrency }
  )
  return together([{ asListed: [], wrong: unnamed, unpinned: [] }, ...codes])
})

/** Compares everything that is there before; nothing else is read of a chain with another id. */
export const inspectSurroundings = Effect.fn("inspectSurroundings")(function* (target: DeploymentTarget) {
  const { client, file } = target
  const chainId = yield* ask("for its id", () => client.getChainId())
  if (chainId !== file.chainId)
    return {
      asListed: [],
      wrong: [`the endpoint serves chain ${chainId}, and the file is of chain ${file.chainId}`],
      unpinned: []
    }
  const code = yield* inspectCode(target)
  return code.wrong.length > 0 ? code : together([code, yield* describeThemselves(target)])
})
