/** A balance under two addresses on a chain, found by moving together, and a token that only shows another's. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { type Address, encodeDeployData, encodeFunctionData, type Hex, zeroAddress } from "viem"
import type { Asset } from "#domain/asset/Asset.ts"
import { BalancesOnce } from "#domain/asset/BalancesOnce.ts"
import { type AssetId, erc20, evmAccount } from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { TokenReader } from "#domain/chain/TokenReader.ts"
import { fromViem } from "#layers/evm/address.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { enroll, EvmWorld, EvmWorldLive, chainIdOf, fund, asset, stranger } from "#test/layers/evm/EvmWorld.ts"
import { compileToken, transact } from "#test/solidity/routedSwaps.ts"
import { TestStores } from "#test/support/database.ts"

const World = BalancesOnce.pipe(Layer.provideMerge(EvmWorldLive), Layer.provideMerge(TestStores))

const deploy = Effect.fnUntraced(function* (chain: Chain, name: string, ledger: Address) {
  const { abi, creation } = compileToken("TwoEntries.sol", name)
  const data = encodeDeployData({ abi, bytecode: creation, args: [ledger] })
  const { contractAddress } = yield* transact(chain, stranger, { to: null, data })
  const mint = (account: Address, amount: bigint): Hex =>
    encodeFunctionData({ abi, functionName: "mint", args: [account, amount] })
  return { address: contractAddress!, assetId: erc20(chainIdOf(chain), fromViem(contractAddress!)), mint }
})

const listed = (assetId: AssetId, chain: Chain): Asset => ({
  assetId,
  chainId: chainIdOf(chain),
  symbol: "T",
  name: "T",
  decimals: 6,
  isBlocked: false
})

layer(World, { excludeTestServices: true })("a balance under two addresses", (it) => {
  it.effect("counts once, for the account of a wallet and for one that is a contract", () =>
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      const chainId = chainIdOf(base)
      const ledger = yield* deploy(base, "TwoEntries", zeroAddress)
      const entry = yield* deploy(base, "TwoEntries", ledger.address)
      const shown = yield* deploy(base, "ShownBalances", ledger.address)
      const ids = [ledger, entry, shown].map(({ assetId }) => assetId)
      const usdc = asset(base, "USDC")
      yield* (yield* AssetStore).upsertAssets([...ids, usdc].map((assetId) => listed(assetId, base)))
      const enrollment = yield* enroll(354n, [[base, "USDC", "WETH"]])
      const accounts = [fromViem(stranger.address), enrollment.account].map((address) => evmAccount(chainId, address))
      const balances = yield* Balances
      for (const account of accounts) {
        const holder = account.slice(account.lastIndexOf(":") + 1) as Address
        yield* transact(base, stranger, { to: ledger.address, data: ledger.mint(holder, 501n) })
        yield* fund(base, fromViem(holder), { symbol: "USDC", raw: 501n })
        const reader = yield* TokenReader
        const areOne = (one: AssetId, other: AssetId) => reader.areOne(account, { one, other, raw: 501n })
        assert.deepStrictEqual(
          [yield* areOne(ids[0]!, ids[1]!), yield* areOne(ids[1]!, ids[0]!), yield* areOne(ids[0]!, usdc)],
          [true, true, false]
        )
        assert.deepStrictEqual([yield* areOne(ids[0]!, ids[2]!), yield* areOne(ids[2]!, ids[0]!)], [true, null])

        const read = yield* balances.read(account, [...ids, usdc])
        const held = new Map(read.balances.map(({ assetId, raw }) => [assetId, raw]))
        assert.strictEqual(held.get(usdc), 501n, "the same amount of another token is another balance")
        assert.strictEqual(held.get(ids[2]!), 0n, "what cannot be transferred never is what counts")
        assert.sameMembers([held.get(ids[0]!), held.get(ids[1]!)], [501n, 0n])
        const [many] = yield* balances.readMany(chainId, [{ account, assetIds: [...ids, usdc] }])
        assert.deepStrictEqual(Result.getOrThrow(many!).balances, read.balances)
      }
    })
  )
})
