/**
 * Five hundred portfolios that are due at once, on a real chain behind two nodes of which one is stuck, and then behind
 * two that answer old and new in turn: each is brought to its target by one operation a round, and nothing is sent
 * twice.
 */
import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { getAbiItem, erc20Abi, parseEther } from "viem"
import { enlist, fund, makeAllDue, type Member } from "#bench/chain/fleet.ts"
import { localRelayer, serviceOn, submitters } from "#bench/chain/world.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { Scheduler } from "#domain/rebalance/Scheduler.ts"
import { toViem } from "#layers/evm/address.ts"
import { entryPoint, entryPointAbi } from "#layers/evm/contracts.ts"
import { type Chain, setEther, startChain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { setPrice } from "#sandbox/chain/Market.ts"
import { nodesOf } from "#test/layers/evm/absence/nodes.ts"
import { newServerDatabase } from "#test/support/database.ts"
import { patience } from "#test/support/suite/patience.ts"

const count = 500
const chainId = 8453

/** Waits until each portfolio has ended as many runs as there were rounds, and nothing is under way. */
const brought = Effect.fnUntraced(function* (rounds: number) {
  const sql = yield* SqlClient.SqlClient
  const scheduler = yield* Scheduler
  yield* makeAllDue
  for (;;) {
    yield* scheduler.tick
    const [row] = yield* sql<{ readonly ended: number; readonly open: number }>`
      SELECT (SELECT count(*)::int FROM workflow_messages WHERE finished_at IS NULL)
          + (SELECT count(*)::int FROM operations WHERE finished_at IS NULL) AS open,
        (SELECT count(DISTINCT portfolio_id)::int FROM portfolios p WHERE (SELECT count(*) FROM operations o
          WHERE o.portfolio_id = p.portfolio_id AND o.state = 'completed') >= ${rounds}) AS ended`
    if (row!.open === 0 && row!.ended === count) return
    yield* Effect.sleep("250 millis")
  }
})

/** The operations of each account that took effect; fails where one did not. */
const includedBy = (chain: Chain) =>
  Effect.promise(async () => {
    const logs = await chain.client.getLogs({
      address: entryPoint,
      event: getAbiItem({ abi: entryPointAbi, name: "UserOperationEvent" }),
      fromBlock: 0n,
      strict: true
    })
    const counts = new Map<string, number>()
    for (const { args } of logs) {
      assert.isTrue(args.success)
      const account = args.sender.toLowerCase()
      counts.set(account, (counts.get(account) ?? 0) + 1)
    }
    return counts
  })

/** The share of ether in what each account holds. */
const shares = (chain: Chain, members: ReadonlyArray<Member>) => {
  const [usdc, weth] = [tokenBySymbol(chain, "USDC"), tokenBySymbol(chain, "WETH")]
  const held = (token: typeof usdc, { account }: Member) =>
    chain.client.readContract({
      address: token.address,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [toViem(account)]
    })
  return Effect.promise(() =>
    Promise.all(
      members.map(async (member) => {
        const dollars = Number(await held(usdc, member)) / 1e6
        const ether = (Number(await held(weth, member)) / 1e18) * Number(weth.initialPriceUsd / Decimal.one)
        return ether / (dollars + ether)
      })
    )
  )
}

describe("a fleet behind nodes that lag", () => {
  if (newServerDatabase === undefined) {
    it.skip("skipped because TEST_DATABASE_URL is not set", () => {})
    return
  }
  const newDatabase = newServerDatabase

  it.live(
    "of five hundred portfolios is on target after each round, and each account has acted once in it",
    () =>
      Effect.gen(function* () {
        const chain = yield* startChain({ chainId, blockTimeMillis: 2_000 })
        for (const address of submitters) yield* setEther(chain, address, parseEther("100000"))
        const { faults, url } = yield* nodesOf(chain)
        const database = yield* newDatabase
        yield* faults.set(`rpc:${chainId}/1`, { mode: "lagging", blocks: 12 })
        const rpcUrls = [url(chain, 1), url(chain, 2)] as const
        const service = yield* Layer.build(serviceOn(chain, { rpcUrls, database, relayer: localRelayer }))
        yield* Effect.gen(function* () {
          const members = yield* enlist(chain, count, true)
          const weth = tokenBySymbol(chain, "WETH")
          for (const round of [1, 2]) {
            yield* fund(chain, members)
            yield* setPrice(chain, weth, { priceUsd: weth.initialPriceUsd })
            // A node that is some blocks behind has the dollars by now: what it lacks is what the service does itself.
            yield* Effect.sleep("12 seconds")
            yield* Effect.timeout(brought(round), patience)
            const included = yield* includedBy(chain)
            assert.deepStrictEqual([...new Set(included.values())], [round])
            assert.strictEqual(included.size, count)
            for (const share of yield* shares(chain, members)) assert.closeTo(share, 0.5, 0.02)
            // In the second round the other node answers old and new in turn.
            yield* faults.set(`rpc:${chainId}/2`, { mode: "stale", blocks: 4, share: 0.25 })
          }
        }).pipe(Effect.provideContext(service))
      }).pipe(Effect.provide(NodeCrypto.layer)),
    1_200_000
  )
})
