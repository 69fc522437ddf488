/**
 * Withdrawals and revocations by the owner's signature, behind nodes that are behind: none is called open, expired or
 * lost that was carried out, and none is carried out twice.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Hex } from "viem"
import { Relayer } from "#domain/relay/Relayer.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"
import { RevocationTransactions } from "#domain/revocation/RevocationTransactions.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { adapterBehind } from "#test/layers/evm/absence/nodes.ts"
import { EvmWorld, EvmWorldLive, mine, owner, withdrawalDomainName } from "#test/layers/evm/EvmWorld.ts"
import { advance } from "#sandbox/chain/Market.ts"
import { dollars, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import { signedWithdrawal } from "#test/layers/evm/withdrawal/WithdrawalWorld.ts"

const { chainId } = catalog[0]!

/** The service's adapter behind as many nodes of the chain. */
const behind = Effect.fnUntraced(function* (chain: Chain, endpoints: 1 | 2) {
  const { faults, services } = yield* adapterBehind(chain, endpoints)
  return {
    faults,
    withdrawals: Context.get(services, WithdrawalTransactions),
    revocations: Context.get(services, RevocationTransactions)
  }
})

/** A withdrawal that is signed for the chain, and not sent. */
const preparedWithdrawal = Effect.fnUntraced(function* (index: bigint, chain: Chain) {
  const enrollment = yield* tradingAccount(index)
  const withdrawal = yield* signedWithdrawal(enrollment, chain, { assets: [["USDC", dollars(5n)]] })
  const prepared = asTransaction(yield* (yield* WithdrawalTransactions).prepare(withdrawal))
  return { withdrawal, signed: yield* (yield* Relayer).sign(prepared, prepared.chainNonce) }
})

const late = { mode: "lagging", blocks: 3, of: ["receipts", "logs"] } as const

describe("the owner's signature", () => {
  layer(EvmWorldLive.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto)), { excludeTestServices: true })((it) => {
    it.effect(
      "of a withdrawal that landed is never lost while receipts and logs are late; it is found after that",
      () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const { faults, withdrawals } = yield* behind(base, 1)
          const { signed, withdrawal } = yield* preparedWithdrawal(901n, base)
          yield* faults.set(`rpc:${chainId}`, late)
          yield* (yield* Relayer).broadcast(signed)
          for (let round = 0; round < 2; round++) {
            const found = yield* Effect.result(withdrawals.find(signed, withdrawal))
            if (Result.isSuccess(found)) assert.isTrue(Option.isNone(found.success), "nothing is concluded")
            const standing = yield* Effect.result(withdrawals.standing(withdrawal))
            assert.isTrue(Result.isFailure(standing), "its nonce is used, and nobody shows by what")
          }
          yield* mine(base, 3)
          const found = Option.getOrThrow(yield* withdrawals.find(signed, withdrawal))
          assert.deepStrictEqual([found.success, found.txHash], [true, signed.txHash])
          assert.strictEqual((yield* withdrawals.standing(withdrawal))._tag, "Landed")
        })
    )

    it.effect("of a withdrawal that landed has not expired either, whatever the nodes keep back", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { faults, withdrawals } = yield* behind(base, 2)
        const { signed, withdrawal } = yield* preparedWithdrawal(902n, base)
        yield* (yield* Relayer).broadcast(signed)
        yield* Effect.promise(() => base.client.waitForTransactionReceipt({ hash: signed.txHash as Hex }))
        yield* advance(base, 3_600_000)
        yield* faults.set(`rpc:${chainId}`, { ...late, blocks: 20 })
        const standing = yield* Effect.result(withdrawals.standing(withdrawal))
        assert.isTrue(Result.isFailure(standing), "it is not called closed")
        yield* faults.set(`rpc:${chainId}`, { mode: "ok" })
        assert.strictEqual((yield* withdrawals.standing(withdrawal))._tag, "Landed")
      })
    )

    it.effect("of a withdrawal is found where one of two nodes is behind in everything", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { faults, withdrawals } = yield* behind(base, 2)
        const { signed, withdrawal } = yield* preparedWithdrawal(903n, base)
        yield* faults.set(`rpc:${chainId}/1`, { mode: "lagging", blocks: 4 })
        yield* (yield* Relayer).broadcast(signed)
        const found = Option.getOrThrow(yield* withdrawals.find(signed, withdrawal))
        assert.deepStrictEqual([found.success, found.txHash], [true, signed.txHash])
      })
    )

    it.effect("that ends a permission is not said to have ended it before every node shows that it has", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { faults, revocations } = yield* behind(base, 1)
        const { authorization } = yield* tradingAccount(904n)
        const { accountIndex, accountType, chains, ownerAccountId } = authorization
        const ended = chains.filter((one) => one.chainId === chainId)
        const [first, ...others] = ended.map(({ accountId, chainId: on, permissionId }) => ({
          accountId,
          chainId: on,
          permissionId
        }))
        const revocation = yield* revocations.draft({
          accountType,
          accountIndex,
          ownerAccountId,
          withdrawalDomainName,
          accounts: [first!, ...others]
        })
        const signature = yield* Effect.promise(() => owner.signMessage({ message: { raw: revocation.root as Hex } }))
        const [chain] = revocation.chains
        const prepared = yield* revocations.prepare({ revocation, signature }, chain)
        const relayer = yield* Relayer
        const signed = yield* relayer.sign(prepared, prepared.chainNonce)
        yield* faults.set(`rpc:${chainId}`, { mode: "lagging", blocks: 3 })
        yield* relayer.broadcast(signed)
        assert.isFalse(yield* revocations.hasEnded(chain))
        yield* faults.set(`rpc:${chainId}`, late)
        for (let round = 0; round < 2; round++) {
          const found = yield* Effect.result(revocations.find(signed, chain))
          if (Result.isSuccess(found)) assert.isTrue(Option.isNone(found.success), "nothing is concluded")
        }
        assert.isTrue(yield* revocations.hasEnded(chain), "state at a block that is named is evidence")
        yield* mine(base, 3)
        const found = Option.getOrThrow(yield* revocations.find(signed, chain))
        assert.deepStrictEqual([found.success, found.txHash], [true, signed.txHash])
      })
    )
  })
})
