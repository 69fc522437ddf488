import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { AssetId, ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import { agreed, conclude, type Observation } from "#layers/evm/rpc/quorum.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"

const chainId = 8453 as ChainId

const landed: ActionReceipt = {
  actionHash: "0x01",
  txHash: "0x02",
  blockNumber: 100n,
  blockHash: "0x64",
  success: true,
  gasUsed: 5n,
  deltas: [{ assetId: "eip155:8453/erc20:0x52908400098527886E0F7030069857D2E4169EE7" as AssetId, raw: 7n }]
}
const lost: ActionReceipt = { ...landed, blockNumber: 0n, blockHash: null, success: false, deltas: [] }

const at = (confirmed: bigint, receipt: ActionReceipt | null = null): Observation => ({
  head: confirmed,
  confirmed,
  receipt: Option.fromNullOr(receipt)
})

/** Endpoints of which each shows what its own effect answers. */
const withEndpoints = (...observations: ReadonlyArray<Effect.Effect<Observation, ChainUnavailable>>) => {
  const unused = () => Effect.die("unused")
  const clientsOver = (...endpoints: ReadonlyArray<EvmClients["Service"]>) =>
    EvmClients.of({
      chain: unused,
      readCalls: unused,
      request: unused,
      heads: () => Effect.succeed([]),
      due: () => Effect.succeed(0n),
      each: () => endpoints
    })
  const shown = new Map(observations.map((observe) => [clientsOver(), observe]))
  const observe = Effect.flatMap(EvmClients, (endpoint) => shown.get(endpoint)!)
  return agreed(chainId, observe).pipe(Effect.provideService(EvmClients, clientsOver(...shown.keys())))
}

const silent = Effect.fail(new ChainUnavailable({ chainId, reason: "silent" }))

describe("What endpoints conclude together", () => {
  it("is what all of them show", () => {
    assert.deepStrictEqual(conclude([at(100n, landed), at(105n, landed)]), Option.some(landed))
    assert.deepStrictEqual(conclude([at(100n), at(105n)]), Option.none())
    assert.deepStrictEqual(conclude([at(100n, lost), at(101n, lost)]), Option.some(lost))
  })

  it("does not wait for one whose chain is not that long yet", () => {
    assert.deepStrictEqual(conclude([at(99n), at(100n, landed)]), Option.some(landed))
    assert.deepStrictEqual(conclude([at(100n, lost), at(99n)]), Option.some(lost))
  })

  it("is nothing when two that have seen the block contradict each other", () => {
    const others: ReadonlyArray<ActionReceipt | null> = [
      null,
      lost,
      { ...landed, success: false },
      { ...landed, blockHash: "0x65" },
      { ...landed, txHash: "0x03" },
      { ...landed, deltas: [] },
      { ...landed, deltas: [{ ...landed.deltas[0]!, raw: 8n }] }
    ]
    for (const other of others) {
      assert.strictEqual(conclude([at(100n, landed), at(100n, other)]), "contradiction")
      assert.strictEqual(conclude([at(100n, other), at(100n, landed)]), "contradiction")
    }
    assert.strictEqual(conclude([at(100n, lost), at(100n)]), "contradiction")
    assert.strictEqual(conclude([at(100n), at(100n, lost)]), "contradiction")
  })

  it.effect("needs one answer, and passes over those that fail or are silent", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* withEndpoints(silent, Effect.succeed(at(100n, landed))), Option.some(landed))
      const failed = yield* Effect.flip(withEndpoints(silent, silent))
      assert.strictEqual(failed.reason, "silent")
      assert.deepStrictEqual(yield* withEndpoints(Effect.never, Effect.succeed(at(100n, landed))), Option.some(landed))
    })
  )

  it.effect("a contradiction is a chain that is unavailable: the step waits", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(withEndpoints(Effect.succeed(at(100n, landed)), Effect.succeed(at(101n))))
      assert.include(error.reason, "contradict")
    })
  )

  it.effect("concludes that nothing landed only when it is so twice", () =>
    Effect.gen(function* () {
      const answers = [at(100n, lost), at(101n, landed)]
      assert.deepStrictEqual(yield* withEndpoints(Effect.sync(() => answers.shift()!)), Option.some(landed))
      assert.deepStrictEqual(yield* withEndpoints(Effect.succeed(at(100n, lost))), Option.some(lost))
    })
  )
})
