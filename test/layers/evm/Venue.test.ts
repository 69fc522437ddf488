import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, parseAbi } from "viem"
import { erc20, type EvmAddress } from "#domain/values/Caip.ts"
import { Venue } from "#domain/trading/Venue.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import {
  asset,
  batchOf,
  chainIdOf,
  enroll,
  EvmWorld,
  EvmWorldLive,
  execute,
  fund,
  connectorTokensOf,
  splitSwaps,
  token
} from "#test/layers/evm/EvmWorld.ts"
import { evmExecution, toEvm } from "#layers/evm/address.ts"

const getAmountsOut = (chain: Chain, sellAmountRaw: bigint, path: ReadonlyArray<EvmAddress>) =>
  Effect.promise(() =>
    chain.client.readContract({
      address: chain.contracts.router,
      abi: parseAbi(["function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[])"]),
      functionName: "getAmountsOut",
      args: [sellAmountRaw, path as ReadonlyArray<string> as ReadonlyArray<Address>]
    })
  )

describe("Venue", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("quotes what the router quotes, on the best path", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const venue = yield* Venue
        for (const chain of [base, arbitrum]) {
          for (const { assetId: sell } of chain.tokens) {
            for (const { assetId: buy } of chain.tokens.filter(({ assetId }) => assetId !== sell)) {
              for (const sellAmountRaw of [10n ** 6n, 987_654_321_012n, 10n ** 19n]) {
                const [quote] = yield* venue.quote({
                  chainId: chainIdOf(chain),
                  connectorTokens: connectorTokensOf(chain),
                  requests: [{ sell, buy, sellAmountRaw }]
                })
                if (quote == null) continue
                const { path } = evmExecution(quote)
                const amounts = yield* getAmountsOut(chain, sellAmountRaw, path.map(toEvm))
                assert.strictEqual(quote.buyAmountRaw, amounts.at(-1))
                const ends = [path[0]!, path.at(-1)!].map((address) => erc20(chainIdOf(chain), toEvm(address)))
                assert.deepStrictEqual(ends, [sell, buy])
              }
            }
          }
        }
      })
    )

    it.effect("quotes a batch as it will be carried out, one swap after the other", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const venue = yield* Venue
        const enrollment = yield* enroll(1n, [[base, "USDC", "WETH", "cbBTC"]])
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: 600_000_000_000n })
        const requests = ["WETH", "WETH", "cbBTC"].map((buy) => ({
          sell: asset(base, "USDC"),
          buy: asset(base, buy),
          sellAmountRaw: 200_000_000_000n
        }))
        const quotes = yield* venue.quote({
          chainId: chainIdOf(base),
          connectorTokens: connectorTokensOf(base),
          requests
        })
        assert.isTrue(quotes[1]!.buyAmountRaw < quotes[0]!.buyAmountRaw)
        // Minimums at the very quotes: one unit less from any of the three and the operation would not pass.
        const swaps = requests.map((request, index) => ({
          ...request,
          execution: quotes[index]!.execution,
          minBuyAmountRaw: quotes[index]!.buyAmountRaw
        }))
        const { receipt } = yield* execute(batchOf(enrollment, base, swaps))
        assert.isTrue(receipt.success)
        const received = (symbol: string) => receipt.deltas.find(({ assetId }) => assetId === asset(base, symbol))?.raw
        assert.strictEqual(received("WETH"), quotes[0]!.buyAmountRaw + quotes[1]!.buyAmountRaw)
        assert.strictEqual(received("cbBTC"), quotes[2]!.buyAmountRaw)
      })
    )

    it.effect("quotes a trade over several paths as it will be carried out, for more than the best of them pays", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* enroll(5n, [[base, "USDC", "WETH", "cbBTC"]])
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: 400_000_000_000n })
        const { quote, single, swaps } = yield* splitSwaps(base, {
          sell: "USDC",
          buy: "cbBTC",
          sellAmountRaw: 400_000_000_000n
        })
        assert.isAbove(swaps.length, 1)
        assert.isTrue(quote.buyAmountRaw > single.buyAmountRaw)
        const { receipt } = yield* execute(batchOf(enrollment, base, swaps))
        assert.isTrue(receipt.success)
        const changes = new Map(receipt.deltas.map(({ assetId, raw }) => [assetId, raw]))
        assert.strictEqual(changes.get(asset(base, "cbBTC")), quote.buyAmountRaw)
        assert.strictEqual(changes.get(asset(base, "USDC")), -400_000_000_000n)
      })
    )

    it.effect("quotes as if a swap that is not made were not there", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const venue = yield* Venue
        const [first, second] = [200_000_000_000n, 1_000_000_000n].map((sellAmountRaw) => ({
          sell: asset(base, "USDC"),
          buy: asset(base, "WETH"),
          sellAmountRaw
        }))
        const quote = (isMade?: (index: number) => boolean) =>
          venue.quote({
            chainId: chainIdOf(base),
            connectorTokens: connectorTokensOf(base),
            requests: [first!, second!],
            isMade
          })
        const [alone] = yield* venue.quote({
          chainId: chainIdOf(base),
          connectorTokens: connectorTokensOf(base),
          requests: [second!]
        })
        assert.deepStrictEqual((yield* quote((index) => index > 0))[1], alone)
        assert.isTrue((yield* quote())[1]!.buyAmountRaw < alone!.buyAmountRaw)
      })
    )

    it.effect("has no quote for a token without a pool, and keeps the others", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const venue = yield* Venue
        const lonely = erc20(chainIdOf(base), "0x00000000000000000000000000000000DeaDBeef" as EvmAddress)
        const usdc = asset(base, "USDC")
        const quotes = yield* venue.quote({
          chainId: chainIdOf(base),
          connectorTokens: connectorTokensOf(base),
          requests: [
            { sell: usdc, buy: lonely, sellAmountRaw: 1_000_000n },
            { sell: usdc, buy: asset(base, "WETH"), sellAmountRaw: 1_000_000n }
          ]
        })
        assert.isNull(quotes[0])
        assert.deepStrictEqual(evmExecution(quotes[1]!).path, [token(base, "USDC"), token(base, "WETH")])
        assert.deepStrictEqual(yield* venue.quote({ chainId: chainIdOf(base), connectorTokens: [], requests: [] }), [])
        assert.strictEqual(venue.assumedFeeBps(chainIdOf(base)), 30)
      })
    )
  })
})
