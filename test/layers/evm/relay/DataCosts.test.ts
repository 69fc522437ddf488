/** What rollups charge for the bytes of transactions, on chains that answer as theirs do. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { type Hex, parseAbi, size, toFunctionSelector, toHex } from "viem"
import { ChainCosts } from "#domain/chain/ChainCosts.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { gasPriceOf } from "#layers/evm/execution/operationOutcome.ts"
import {
  dataFeeOf,
  dataGasOf,
  gasPriceOracle,
  operatorFeeOf,
  readDataCosts,
  withDataCosts
} from "#layers/evm/rpc/dataCosts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import {
  adapterFor,
  batchOf,
  chainIdOf,
  configFor,
  enroll,
  EvmWorld,
  EvmWorldLive,
  fund,
  quotedSwap
} from "#test/layers/evm/EvmWorld.ts"

type Rollup = "optimism" | "arbitrum"

const configWith = (chain: Chain, rollup: Rollup | undefined) => {
  const config = configFor([chain])
  return { ...config, chains: config.chains.map((one) => ({ ...one, ...(rollup === undefined ? {} : { rollup }) })) }
}

const costsOf = (chain: Chain, rollup: Rollup | undefined) =>
  readDataCosts(chainIdOf(chain)).pipe(
    Effect.provide(
      Layer.fresh(EvmClients.layer).pipe(Layer.provide(Layer.succeed(EvmConfig, configWith(chain, rollup))))
    )
  )

describe("data of rollups", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("on the OP stack costs what its oracle says, never less, and a fifth more at most", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const costs = yield* costsOf(base, "optimism")
        assert.strictEqual(dataGasOf(costs, 5_000), 0n)
        for (const bytes of [1_200, 3_000, 9_000]) {
          const abi = parseAbi(["function getL1Fee(bytes) view returns (uint256)"])
          const data = `0x02${"ab".repeat(bytes + 100)}` as Hex
          const args = [data] as const
          const asked = yield* Effect.promise(() =>
            base.client.readContract({ address: gasPriceOracle, abi, functionName: "getL1Fee", args })
          )
          const bound = dataFeeOf(costs, bytes)
          assert.isTrue(asked > 0n && bound >= asked && bound < asked + asked / 5n, `${bytes}: ${bound} for ${asked}`)
        }
      })
    )

    it.effect("costs on the OP stack what its operator charges too, by the gas that is used", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const calm = yield* costsOf(base, "optimism")
        assert.strictEqual(operatorFeeOf(calm, 1_000_000n), 0n)
        const [scalar, constant] = [1_566n, 1_000_000_000n]
        const put = (value: bigint) =>
          Effect.promise(() =>
            base.client.setStorageAt({ address: gasPriceOracle, index: 0, value: toHex(value, { size: 32 }) })
          )
        yield* Effect.acquireRelease(put(scalar | (constant << 32n)), () => put(0n))
        const costs = yield* costsOf(base, "optimism")
        assert.strictEqual(operatorFeeOf(costs, 0n), constant)
        assert.strictEqual(operatorFeeOf(costs, 325_000n), 325_000n * scalar * 100n + constant)
        const callData = `0x${"ab".repeat(1_200)}` as const
        const [before, after] = [calm, costs].map((read) => withDataCosts(read, callData, 700_000n))
        assert.strictEqual(after!.dataFee! - before!.dataFee!, 700_000n * scalar * 100n + constant)
      })
    )

    it.effect("is what it was where the oracle knows no operator, as before Isthmus", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const code = yield* Effect.promise(() => base.client.getCode({ address: gasPriceOracle }))
        assert.isDefined(code)
        const selector = toFunctionSelector("getOperatorFee(uint256)").slice(2)
        assert.include(code as string, selector)
        const older = code!.replace(selector, "00000000") as Hex
        const put = (bytecode: Hex) => Effect.promise(() => base.client.setCode({ address: gasPriceOracle, bytecode }))
        const known = yield* costsOf(base, "optimism")
        yield* Effect.acquireRelease(put(older), () => put(code!))
        assert.deepStrictEqual(yield* costsOf(base, "optimism"), known)
      })
    )

    it.effect("on Arbitrum takes gas, by what the node says", () =>
      Effect.gen(function* () {
        const { arbitrum } = yield* EvmWorld
        const costs = yield* costsOf(arbitrum, "arbitrum")
        assert.strictEqual(dataFeeOf(costs, 5_000), 0n)
        const [one, two] = [dataGasOf(costs, 1_000), dataGasOf(costs, 2_000)]
        assert.isTrue(one > 10_000n && two > one && two < 2n * one, `${one} ${two}`)
      })
    )

    it.effect("costs nothing where the chain is no rollup, and is not known where its contract does not answer", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const none = yield* costsOf(base, undefined)
        assert.deepStrictEqual([dataFeeOf(none, 5_000), dataGasOf(none, 5_000)], [0n, 0n])
        assert.include((yield* Effect.flip(costsOf(base, "arbitrum"))).message, "NodeInterface does not answer")
        assert.include((yield* Effect.flip(costsOf(arbitrum, "optimism"))).message, "GasPriceOracle does not answer")
      })
    )

    it.effect("is in what is prepared and in what plans are weighed with", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const seen = Effect.fnUntraced(function* (chain: Chain, accountIndex: bigint, rollup: Rollup | undefined) {
          const enrollment = yield* enroll(accountIndex, [[chain, "USDC", "WETH"]])
          yield* fund(chain, enrollment.account, { symbol: "USDC", raw: 1_000_000_000n })
          const swap = yield* quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: 10_000_000n })
          return yield* Effect.gen(function* () {
            const prepared = asTransaction(yield* (yield* SwapBatches).prepare(batchOf(enrollment, chain, [swap])))
            const costs = Option.getOrThrow(yield* (yield* ChainCosts).read(chainIdOf(chain)))
            return { prepared, costs }
          }).pipe(Effect.provide(adapterFor(configWith(chain, rollup))))
        })
        const plain = yield* seen(base, 501n, undefined)
        const charged = yield* seen(base, 502n, "optimism")
        assert.isUndefined(plain.prepared.dataFee)
        assert.strictEqual(charged.prepared.gasLimit, plain.prepared.gasLimit)
        const costs = yield* costsOf(base, "optimism")
        assert.strictEqual(
          charged.prepared.dataFee,
          dataFeeOf(costs, size(charged.prepared.callData as Hex)),
          "for its own bytes"
        )
        const [other, counted] = [yield* seen(arbitrum, 503n, undefined), yield* seen(arbitrum, 504n, "arbitrum")]
        assert.isTrue(counted.prepared.gasLimit > other.prepared.gasLimit + 10_000n)
        for (const [without, including] of [
          [plain.costs, charged.costs],
          [other.costs, counted.costs]
        ] as const) {
          assert.isTrue(including.operation > without.operation)
          assert.isTrue(including.swap > without.swap)
        }
      })
    )
  })

  it("of a receipt is what the operator charged too, by the formula of its fork", () => {
    const receipt = {
      effectiveGasPrice: 6_000_000n,
      gasUsed: 400_000n,
      l1Fee: "0xe8d4a51000",
      operatorFeeScalar: "0x3e8",
      operatorFeeConstant: "0x5"
    }
    const isthmus = 1_000_000_000_000n + 400n + 5n
    assert.deepStrictEqual(gasPriceOf(receipt), { gasPriceRaw: 6_000_000n, dataFeeRaw: isthmus })
    const jovian = { ...receipt, daFootprintGasScalar: "0x190" }
    const charged = 1_000_000_000_000n + 400_000n * 1_000n * 100n + 5n
    assert.deepStrictEqual(gasPriceOf(jovian), { gasPriceRaw: 6_000_000n, dataFeeRaw: charged })
    assert.deepStrictEqual(gasPriceOf(jovian, { part: 1n, of: 4n }).dataFeeRaw, charged / 4n)
    const odd = { ...receipt, operatorFeeScalar: 7 }
    assert.deepStrictEqual(gasPriceOf(odd).dataFeeRaw, 1_000_000_000_000n)
  })

  it("of a receipt is its share of what the node says was charged", () => {
    const receipt = { effectiveGasPrice: 6_000_000n, l1Fee: "0xe8d4a51000" }
    assert.deepStrictEqual(gasPriceOf(receipt), { gasPriceRaw: 6_000_000n, dataFeeRaw: 1_000_000_000_000n })
    assert.deepStrictEqual(gasPriceOf(receipt, { part: 1n, of: 4n }), {
      gasPriceRaw: 6_000_000n,
      dataFeeRaw: 250_000_000_000n
    })
    assert.deepStrictEqual(gasPriceOf({ effectiveGasPrice: 5n }), { gasPriceRaw: 5n })
    const odd = { effectiveGasPrice: 5n, l1Fee: "much" }
    assert.deepStrictEqual(gasPriceOf(odd), { gasPriceRaw: 5n })
  })
})
