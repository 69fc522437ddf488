/**
 * Up to twenty actions on one account, asked for in one moment on three processes that share a database and real
 * chains: all end as they would one after the other, each moves what it names to the unit, and no transaction reverts.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  createPublicClient,
  erc20Abi,
  getAbiItem,
  type Hex,
  http,
  type Log,
  parseEventLogs,
  type PublicClient,
  type TransactionReceipt
} from "viem"
import { entryPoint, entryPointAbi } from "#layers/evm/contracts.ts"
import { loadContracts } from "#sandbox/chain/Contracts.ts"
import { contractAddresses } from "#sandbox/chain/contractAddresses.ts"
import { catalogChain } from "#sandbox/assets/catalog.ts"
import { drawActions, type Drawing, type Drawn, prepared, type Ready } from "#test/fault/support/accountActions.ts"
import { Random } from "#test/simulation/harness/Random.ts"
import {
  actingChain as base,
  type ActingOwner,
  backendQuote,
  completedSwap,
  signedInOwner,
  submitAction,
  tokenAddress
} from "#test/support/actingOwner.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { finishedOperation, rebalance } from "#test/support/journey.ts"
import { eventually, startWorld, type World, worldFolder } from "#test/support/World.ts"

const processes = 3
const drawings: ReadonlyArray<Drawing> = [
  { seed: 11, count: 5, rebalances: false },
  { seed: 12, count: 11, rebalances: true },
  { seed: 13, count: 20, rebalances: true }
]

/** Raw dollars by which plans of two accounts differ whose pools were not alike. */
const plannedApart = 10_000_000n
/** What trades of the same amounts yield more or less on pools that others traded on, in parts of 10,000. */
const quotedApart = 50n

/** A world whose API is three processes, until the scope closes. */
const worldOnProcesses = (dataDir: string, databaseUrl: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      startWorld(dataDir, {
        API_PROGRAM: new URL("../../src/Cluster.ts", import.meta.url).pathname,
        CLUSTER_SIZE: `${processes}`,
        DATABASE_URL: databaseUrl,
        REBALANCE_COOLDOWN_SECONDS: "0"
      })
    ),
    (started) => Effect.promise(() => started.stop())
  )

/** Asks the world over one of its processes. */
const overProcess = (world: World, index: number): World => {
  const address = new URL(world.overview.apiBaseUrl)
  address.port = `${Number(address.port) + index}`
  const apiWith: World["apiWith"] = (headers) => async (method, path, body) => {
    const answer = await fetch(`${address.origin}${path}`, {
      method,
      headers: { "x-api-key": world.key, "content-type": "application/json", connection: "close", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }
  return { ...world, overview: { ...world.overview, apiBaseUrl: address.origin }, api: apiWith({}), apiWith }
}

const chainOf = (world: World) =>
  createPublicClient({ transport: http(world.overview.chains.find(({ chainId }) => chainId === base)!.rpcUrl) })

/** An account that holds dollars and ether as its strategy wants them, and has acted before. */
const settledOwner = async (world: World, strategyId: string) => {
  const owner = await signedInOwner(world, { strategyId, chains: [base] })
  const first = await submitAction(world, backendQuote(world, owner, { fromAmount: "5000000000" }), owner.token)
  await completedSwap(world, owner, first.body.result.data.operationId)
  await world.api("POST", `/v2/portfolios/${owner.portfolioId}/start`)
  await finishedOperation(world, owner.portfolioId, await rebalance(world, owner.portfolioId))
  return owner
}

const halves = async (world: World): Promise<string> => {
  const assets = ["WETH", "USDC"].map((symbol) => ({ assetId: world.asset(base, symbol).assetId, weight: "50.00" }))
  const body = { name: "One chain", allocation: { assets }, schedule: { type: "interval", frequency: "daily" } }
  return (await world.api("POST", "/v2/strategies", body)).body.data.strategyId
}

const tokensOf = (world: World) =>
  ["USDC", "WETH"].map((symbol) => tokenAddress(world, symbol).toLowerCase() as Hex) as [usdc: Hex, weth: Hex]

/** What an account holds, and lets a contract spend. */
const standing = async (world: World, { address }: ActingOwner, spender: Hex) => {
  const client = chainOf(world)
  const [usdc, weth] = tokensOf(world)
  const read = (token: Hex) =>
    client.readContract({ address: token, abi: erc20Abi, functionName: "balanceOf", args: [address as Hex] })
  const args = [address as Hex, spender] as const
  const allowance = await client.readContract({ address: usdc, abi: erc20Abi, functionName: "allowance", args })
  return { usdc: await read(usdc), weth: await read(weth), allowance }
}

type Standing = Awaited<ReturnType<typeof standing>>

interface Ended extends Pick<Ready, "drawn"> {
  /** Its transaction; null of what had nothing to do. */
  readonly receipt: TransactionReceipt | null
}

const placeOf = ({ receipt }: Ended): number =>
  receipt === null ? 0 : Number(receipt.blockNumber) * 1_000 + receipt.transactionIndex

/** Each has ended as asked, in the order of the chain. */
const endedInOrder = async (world: World, owner: ActingOwner, asked: ReadonlyArray<readonly [Ready, string]>) => {
  const client = chainOf(world)
  const ended = await Promise.all(
    asked.map(async ([{ delivered, drawn }, operationId]): Promise<Ended> => {
      const operation = await finishedOperation(world, owner.portfolioId, operationId)
      assert.strictEqual(operation.state, "completed", `${drawn.kind}: ${JSON.stringify(operation)}`)
      if (drawn.kind === "withdrawal") assert.strictEqual(await delivered(), drawn.amount)
      const transactions = operation.result.chains.flatMap((chain: any) => chain.transactions)
      if (transactions.length === 0) {
        assert.deepStrictEqual([drawn.kind, operation.outcome], ["rebalance", "nothing_to_do"])
        return { drawn, receipt: null }
      }
      assert.lengthOf(transactions, 1, "each takes one transaction")
      return { drawn, receipt: await client.getTransactionReceipt({ hash: transactions[0].txHash }) }
    })
  )
  return ended.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** What the logs of a transaction say that an account got of each token. */
const movedIn = (world: World, { address }: ActingOwner, logs: ReadonlyArray<Log>) => {
  const account = address.toLowerCase()
  const moved = new Map<string, bigint>(tokensOf(world).map((token) => [token, 0n]))
  for (const { address: token, args } of parseEventLogs({ abi: erc20Abi, eventName: "Transfer", logs: [...logs] })) {
    const got = args.to.toLowerCase() === account ? args.value : 0n
    const gave = args.from.toLowerCase() === account ? args.value : 0n
    const before = moved.get(token.toLowerCase())
    if (before !== undefined) moved.set(token.toLowerCase(), before + got - gave)
  }
  const [usdc, weth] = [...moved.values()] as [bigint, bigint]
  return { usdc, weth }
}

/** How much a transaction let somebody spend of an account; none of what approves nothing. */
const allowedIn = ({ address }: ActingOwner, logs: ReadonlyArray<Log>): bigint | undefined =>
  parseEventLogs({ abi: erc20Abi, eventName: "Approval", logs: [...logs] }).find(
    ({ args }) => args.owner.toLowerCase() === address.toLowerCase()
  )?.args.value

/**
 * Each action did in its transaction what it does alone, and what all of them moved is what the account has more or
 * less, to the unit.
 */
const requireConserved = (world: World, owner: ActingOwner, story: Story) => {
  const total = { usdc: story.before.usdc, weth: story.before.weth }
  for (const { drawn, receipt } of story.ended) {
    const { usdc, weth } = movedIn(world, owner, receipt?.logs ?? [])
    if (drawn.kind === "swap") assert.isTrue(usdc === -drawn.amount && weth > 0n, `${drawn.amount}: ${usdc} ${weth}`)
    if (drawn.kind === "withdrawal") assert.deepStrictEqual([usdc, weth], [-drawn.amount, 0n])
    if (drawn.kind === "call")
      assert.deepStrictEqual([usdc, weth, allowedIn(owner, receipt?.logs ?? [])], [0n, 0n, drawn.allowance])
    if (drawn.kind === "rebalance") assert.isTrue(receipt === null || usdc * weth < 0n, `${usdc} ${weth}`)
    total.usdc += usdc
    total.weth += weth
  }
  const { allowance: _allowance, ...held } = story.after
  assert.deepStrictEqual(held, total)
}

interface Story {
  readonly before: Standing
  readonly after: Standing
  readonly ended: ReadonlyArray<Ended>
}

const changeOf = ({ after, before }: Story) => ({ usdc: after.usdc - before.usdc, weth: after.weth - before.weth })

/**
 * What a rebalance may have kept for others: for swaps that landed after it, and for withdrawals, whose promise stands
 * until they have ended, a moment after they landed.
 */
const keptBy = ({ ended }: Story): bigint => {
  const place = ended.findIndex(({ drawn }) => drawn.kind === "rebalance")
  return ended.reduce((sum, { drawn }, index) => {
    const isKept = drawn.kind === "withdrawal" || (drawn.kind === "swap" && index > place)
    return place !== -1 && isKept ? sum + drawn.amount : sum
  }, 0n)
}

/**
 * Two accounts end alike. Dollars: to the unit without a rebalance; with one, the account that was asked for all in one
 * moment has up to half of what the rebalance kept for the others more. In worth: within what quotes differ by.
 */
const requireAlike = (together: Story, alone: Story, wethPriceUsd: number) => {
  assert.strictEqual(together.after.allowance, alone.after.allowance)
  const [one, other] = [changeOf(together), changeOf(alone)]
  const apart = one.usdc - other.usdc
  const rebalances = together.ended.some(({ drawn }) => drawn.kind === "rebalance")
  const most = rebalances ? keptBy(together) / 2n + plannedApart : 0n
  assert.isTrue(apart >= (rebalances ? -plannedApart : 0n) && apart <= most, `${apart} dollars apart, ${most} at most`)
  const etherUsd = ((one.weth - other.weth) * BigInt(Math.round(wethPriceUsd * 1e6))) / 10n ** 18n
  const traded = together.ended.reduce((sum, { drawn }) => ("amount" in drawn ? sum + drawn.amount : sum), 0n)
  const worth = apart + etherUsd
  const least = ((traded + most) * quotedApart) / 10_000n
  assert.isTrue(worth <= least && worth >= -least, `${worth} dollars of worth apart, ${least} at most`)
}

/** Nobody's transaction reverted in any block of the chain, and no operation of an account failed. */
const requireNoneReverted = async (client: PublicClient) => {
  const last = await client.getBlockNumber({ cacheTime: 0 })
  for (let number = 1n; number <= last; number++) {
    const { transactions } = await client.getBlock({ blockNumber: number })
    const receipts = await Promise.all(transactions.map((hash) => client.getTransactionReceipt({ hash })))
    for (const { status, transactionHash } of receipts) assert.strictEqual(status, "success", transactionHash)
  }
  const event = getAbiItem({ abi: entryPointAbi, name: "UserOperationEvent" })
  const logs = await client.getLogs({ address: entryPoint, event, fromBlock: 0n, strict: true })
  for (const { args } of logs) assert.isTrue(args.success, args.userOpHash)
  return logs.length
}

describe("one account on three processes", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const database = newServerDatabase

  it.live("makes what is asked for at once as it would be made one after the other, and none reverts", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* Effect.acquireRelease(Effect.promise(worldFolder), ({ remove }) =>
        Effect.promise(remove)
      )
      const world = yield* worldOnProcesses(dataDir, yield* database)
      const { guard } = contractAddresses(yield* loadContracts, catalogChain(base)!)
      yield* Effect.promise(async () => {
        const over = Array.from({ length: processes }, (_, index) => overProcess(world, index))
        for (const each of over) {
          await eventually(`${each.overview.apiBaseUrl} is ready`, async () => {
            const answer = await each.api("GET", "/health/ready").catch(() => undefined)
            return answer?.status === 200 ? true : undefined
          })
        }
        const strategyId = await halves(world)
        const spender = guard as Hex
        const readied = (owner: ActingOwner, drawn: Drawn) => prepared(world, { owner, spender }, drawn)
        const owners = () => Promise.all(drawings.map(() => settledOwner(world, strategyId)))

        const [raced, lone] = [await owners(), await owners()]
        const stories = await Promise.all(
          drawings.map(async (drawing, index): Promise<Story> => {
            const [owner, random] = [raced[index]!, new Random(drawing.seed).fork("processes")]
            const ready = await Promise.all(drawActions(drawing).map((drawn) => readied(owner, drawn)))
            const before = await standing(world, owner, spender)
            const asked = await Promise.all(
              ready.map(async (each) => [each, await each.send(over[random.between(0, processes - 1)]!)] as const)
            )
            const ended = await endedInOrder(world, owner, asked)
            const story = { before, ended, after: await standing(world, owner, spender) }
            requireConserved(world, owner, story)
            return story
          })
        )
        await Promise.all(
          stories.map(async (together, index) => {
            const owner = lone[index]!
            const before = await standing(world, owner, spender)
            const ended: Array<Ended> = []
            for (const { drawn } of together.ended) {
              const one = await readied(owner, drawn)
              ended.push(...(await endedInOrder(world, owner, [[one, await one.send(over[0]!)]])))
            }
            const alone = { before, ended, after: await standing(world, owner, spender) }
            requireConserved(world, owner, alone)
            requireAlike(together, alone, Number(world.asset(base, "WETH").priceUsd))
          })
        )
        // Withdrawals are the owner's signature, which no operation of the account includes.
        const isOperation = ({ drawn, receipt }: Ended) => receipt !== null && drawn.kind !== "withdrawal"
        const least = 2 * stories.flatMap(({ ended }) => ended.filter(isOperation)).length
        assert.isAtLeast(await requireNoneReverted(chainOf(world)), least - drawings.length)
      })
    })
  )
})
