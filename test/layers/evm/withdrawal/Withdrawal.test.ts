/** Withdrawals on real chains, by real signatures: what arrives, and everything that must not happen. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Address, getAddress, type Hex } from "viem"
import { tokensOf } from "#domain/account/WithdrawalMessage.ts"
import { type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import { typedDataMessage } from "#domain/account/OwnerMessage.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import { withdrawalDigest, withdrawCall } from "#layers/evm/account/executorCalls.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import {
  type Enrollment,
  EvmWorld,
  asset,
  chainIdOf,
  configFor,
  enroll,
  fund,
  owner,
  patientAdapter,
  stranger,
  token,
  withdrawalDomainName
} from "#test/layers/evm/EvmWorld.ts"
import { balance, deltasOf, dollars, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import {
  submit,
  expire,
  recipient,
  refusedBecause,
  signedWithdrawal,
  typedDataFor,
  withdraw,
  WithdrawalWorldLive
} from "#test/layers/evm/withdrawal/WithdrawalWorld.ts"
import { deployContractWallet } from "#test/support/contractWallet.ts"
import { addressOf } from "#layers/evm/address.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"
import { viemTypedData } from "#test/layers/evm/viemTypedData.ts"

/** A recipient that nothing else of these tests sends to. */
const fresh = (n: number) => getAddress(`0x${n.toString(16).padStart(40, "e")}`) as string as EvmAddress

const submitAs = (chain: Chain, from: typeof stranger, withdrawal: StoredWithdrawal) =>
  Effect.promise(async () => {
    const { data, target } = withdrawCall(withdrawal, withdrawal.signature as Hex)
    const hash = await chain.client.sendTransaction({ account: from, to: target, data, gas: 2_000_000n })
    return chain.client.waitForTransactionReceipt({ hash })
  })

describe("Withdrawals", () => {
  layer(WithdrawalWorldLive, { excludeTestServices: true })((it) => {
    it.effect("have no outcome before as many blocks confirm them as the deployment asks for", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const confirmations = 12
        const enrollment = yield* tradingAccount(90n)
        const withdrawal = yield* signedWithdrawal(enrollment, base, {
          assets: [["USDC", dollars(10n)]],
          to: fresh(90)
        })
        const patient = yield* Layer.build(patientAdapter(base, confirmations))
        const [execution, relay] = [Context.get(patient, WithdrawalTransactions), Context.get(patient, Relayer)]
        const prepared = asTransaction(yield* execution.prepare(withdrawal))
        const signed = yield* relay.sign(prepared, prepared.chainNonce)
        yield* relay.broadcast(signed)
        for (let confirmed = 1; confirmed < confirmations; confirmed++) {
          assert.isTrue(Option.isNone(yield* execution.find(signed, withdrawal)), `after ${confirmed} blocks`)
          yield* Effect.promise(() => base.client.mine({ blocks: 1 }))
        }
        const receipt = Option.getOrThrow(yield* execution.find(signed, withdrawal))
        assert.isTrue(receipt.success)
        assert.strictEqual(yield* balance(base, "USDC", fresh(90)), dollars(10n))
      })
    )

    it.effect("have no outcome either while blocks confirm a transaction of somebody else that carried them out", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const confirmations = 12
        const enrollment = yield* tradingAccount(91n)
        const to = fresh(91)
        const withdrawal = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", dollars(10n)]], to })
        const patient = yield* Layer.build(patientAdapter(base, confirmations))
        const [execution, relay] = [Context.get(patient, WithdrawalTransactions), Context.get(patient, Relayer)]
        const prepared = asTransaction(yield* execution.prepare(withdrawal))
        const ours = yield* relay.sign(prepared, prepared.chainNonce)
        yield* submitAs(base, stranger, withdrawal)
        for (let confirmed = 1; confirmed < confirmations; confirmed++) {
          assert.isTrue(Option.isNone(yield* execution.find(ours, withdrawal)), `after ${confirmed} blocks`)
          yield* Effect.promise(() => base.client.mine({ blocks: 1 }))
        }
        const receipt = Option.getOrThrow(yield* execution.find(ours, withdrawal))
        assert.isTrue(receipt.success)
        assert.notStrictEqual(receipt.txHash, ours.txHash)
        assert.strictEqual(yield* balance(base, "USDC", to), dollars(10n))
      })
    )

    it.effect("the whole balances of two assets arrive, from an account that trades", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const enrollment = yield* tradingAccount(201n)
        const [usdc, weth] = [
          yield* balance(base, "USDC", enrollment.account),
          yield* balance(base, "WETH", enrollment.account)
        ]
        const to = fresh(1)
        const withdrawal = yield* signedWithdrawal(enrollment, base, {
          assets: [
            ["USDC", usdc],
            ["WETH", weth]
          ],
          to
        })
        assert.deepStrictEqual(yield* execution.standing(withdrawal), { _tag: "Open" })
        const receipt = yield* withdraw(withdrawal)
        assert.isTrue(receipt.success)
        assert.strictEqual(receipt.actionHash, withdrawalDigest(withdrawal))
        assert.deepStrictEqual(
          deltasOf(receipt),
          new Map([
            [`eip155:8453/erc20:${token(base, "USDC")}`, -usdc],
            [`eip155:8453/erc20:${token(base, "WETH")}`, -weth]
          ])
        )
        assert.strictEqual(yield* balance(base, "USDC", enrollment.account), 0n)
        assert.strictEqual(yield* balance(base, "USDC", to), usdc)
        assert.strictEqual(yield* balance(base, "WETH", to), weth)
        assert.deepStrictEqual(
          (yield* execution.delivered(withdrawal, receipt)).map(({ raw }) => raw).sort(),
          [usdc, weth].sort()
        )
        const standing = yield* execution.standing(withdrawal)
        assert.strictEqual(standing._tag === "Landed" ? standing.receipt.txHash : "", receipt.txHash)
        assert.include(yield* refusedBecause(withdrawal), "NonceUsed")
      })
    )

    it.effect("an account that is not deployed yet is deployed on the way, on either chain", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const enrollment = yield* enroll(202n, [
          [base, "USDC"],
          [arbitrum, "USDC"]
        ])
        for (const chain of [base, arbitrum]) {
          yield* fund(chain, enrollment.account, { symbol: "USDC", raw: dollars(50n) })
          const to = fresh(2)
          const withdrawal = yield* signedWithdrawal(enrollment, chain, { assets: [["USDC", dollars(50n)]], to })
          const receipt = yield* withdraw(withdrawal)
          assert.isTrue(receipt.success)
          assert.strictEqual(yield* balance(chain, "USDC", to), dollars(50n))
          const code = yield* Effect.promise(() =>
            chain.client.getCode({ address: enrollment.account as string as Address })
          )
          assert.isAbove((code ?? "0x").length, 2)
          // And once more, now that it is there.
          yield* fund(chain, enrollment.account, { symbol: "USDC", raw: dollars(1n) })
          yield* withdraw(yield* signedWithdrawal(enrollment, chain, { assets: [["USDC", dollars(1n)]], to }))
          assert.strictEqual(yield* balance(chain, "USDC", to), dollars(51n))
        }
      })
    )

    it.effect("the digest is the contract's, of either version", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(203n)
        for (const liquidate of [false, true]) {
          const withdrawal = yield* signedWithdrawal(enrollment, base, {
            assets: [
              ["USDC", 1n],
              ["WETH", 2n ** 256n - 1n]
            ],
            liquidate
          })
          const { message } = withdrawal
          const onChain = yield* Effect.promise(() =>
            base.client.readContract({
              address: withdrawalExecutor,
              abi: withdrawalExecutorAbi,
              functionName: "digestOf",
              args: [
                enrollment.account as string as Address,
                {
                  portfolioId: message.portfolioId,
                  recipient: recipient as string as Address,
                  assets: tokensOf(message).map(({ amountRaw, assetId }) => ({
                    token: addressOf(assetId) as string as Address,
                    amount: BigInt(amountRaw)
                  })),
                  nonce: message.nonce as Hex,
                  expiresAt: BigInt(message.expiresAt)
                },
                liquidate
              ]
            })
          )
          assert.strictEqual(withdrawalDigest(withdrawal), onChain)
        }
      })
    )

    it.effect("somebody else's submission is found, before and after our own was sent", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const relay = yield* Relayer
        const enrollment = yield* tradingAccount(204n)
        const to = fresh(4)
        const withdrawal = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", dollars(5n)]], to })
        const prepared = asTransaction(yield* execution.prepare(withdrawal))
        const elsewhere = yield* submitAs(base, stranger, withdrawal)
        const standing = yield* execution.standing(withdrawal)
        assert.strictEqual(standing._tag === "Landed" ? standing.receipt.txHash : "", elsewhere.transactionHash)
        const signed = yield* relay.sign(prepared, prepared.chainNonce)
        const found = Option.getOrThrow(yield* execution.find(signed, withdrawal))
        assert.strictEqual(found.txHash, elsewhere.transactionHash)
        assert.isTrue(found.success)
        // Ours is mined and reverted; theirs stays the answer, and nothing moved twice.
        const receipt = yield* submit(withdrawal, prepared)
        assert.strictEqual(receipt.txHash, elsewhere.transactionHash)
        assert.strictEqual(yield* balance(base, "USDC", to), dollars(5n))
      })
    )

    it.effect("another authorization of the owner with the same nonce closes this one", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const enrollment = yield* tradingAccount(205n)
        const first = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", 1n]], to: fresh(5) })
        const message = { ...first.message, assets: [{ ...first.message.assets[0]!, amountRaw: "2" }] }
        const unsigned = { ...first, message }
        const signature = yield* Effect.promise(() => owner.signTypedData(viemTypedData(typedDataFor(unsigned))))
        yield* withdraw({ ...unsigned, signature })
        const standing = yield* execution.standing(first)
        assert.strictEqual(standing._tag, "Closed")
        assert.match(standing._tag === "Closed" ? standing.reason : "", /another authorization of the owner in 0x/)
      })
    )

    it.effect("after the chain's own time passed the expiry nothing moves, and it is closed", () =>
      Effect.gen(function* () {
        const { arbitrum } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const relay = yield* Relayer
        const enrollment = yield* enroll(206n, [[arbitrum, "USDC"]])
        yield* fund(arbitrum, enrollment.account, { symbol: "USDC", raw: dollars(3n) })
        const to = fresh(6)
        const withdrawal = yield* signedWithdrawal(enrollment, arbitrum, { assets: [["USDC", dollars(3n)]], to })
        const prepared = asTransaction(yield* execution.prepare(withdrawal))
        yield* expire(arbitrum, withdrawal)
        assert.include(yield* refusedBecause(withdrawal), "Expired(")
        const standing = yield* execution.standing(withdrawal)
        assert.include(standing._tag === "Closed" ? standing.reason : "", "nothing moved")
        // A transaction that was signed in time and never sent is over too.
        const signed = yield* relay.sign(prepared, prepared.chainNonce)
        assert.isFalse(Option.getOrThrow(yield* execution.find(signed, withdrawal)).success)
        assert.isFalse((yield* submit(withdrawal, prepared)).success)
        assert.strictEqual(yield* balance(arbitrum, "USDC", to), 0n)
        assert.strictEqual(yield* balance(arbitrum, "USDC", enrollment.account), dollars(3n))
      })
    )

    it.effect("what the account does not hold, or the owner did not sign, is refused with the contract's reason", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* tradingAccount(207n)
        const held = yield* balance(base, "USDC", enrollment.account)
        const short = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", held + 1n]] })
        assert.include(yield* refusedBecause(short), "ERC20InsufficientBalance")
        const foreign = yield* signedWithdrawal(enrollment, base, {
          assets: [["USDC", 1n]],
          sign: (typedData) => stranger.signTypedData(typedData)
        })
        assert.include(yield* refusedBecause(foreign), "NotSignedByOwner")
        const liquidating = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", 1n]], liquidate: true })
        assert.include(yield* refusedBecause(liquidating), "NotSignedByOwner")
        assert.include(yield* refusedBecause({ ...short, signature: "0x1b" }), "no signature")
      })
    )

    it.effect("is verified as the contract verifies it, whatever form the wallet gave the signature", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const verifier = yield* WithdrawalVerifier
        const enrollment = yield* tradingAccount(208n)
        const withdrawal = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", 7n]], to: fresh(8) })
        const by = (signature: string) => verifier.isSignedByOwner({ ...withdrawal, signature })
        const v = withdrawal.signature.slice(-2)
        const short = `${withdrawal.signature.slice(0, -2)}${v === "1b" ? "00" : "01"}`
        assert.isTrue(yield* by(withdrawal.signature))
        assert.isTrue(yield* by(`0x${withdrawal.signature.slice(2).toUpperCase()}`))
        assert.isTrue(yield* by(short))
        assert.isFalse(yield* by(`0x${"00".repeat(65)}`))
        assert.isFalse(yield* by("0x"))
        const stolen = yield* Effect.promise(() => stranger.signTypedData(viemTypedData(typedDataFor(withdrawal))))
        assert.isFalse(yield* by(stolen))
        // A wallet's short form is included in the form that the chain recovers.
        assert.isTrue((yield* withdraw({ ...withdrawal, signature: short })).success)
      })
    )

    it.effect("an owner that is a contract decides, off chain and on chain", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const verifier = yield* WithdrawalVerifier
        const wallet = yield* Effect.promise(() => deployContractWallet(base.rpcUrl))
        const enrollment = yield* enrollContract(base, wallet)
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(9n) })
        const to = fresh(9)
        const withdrawal = yield* signedWithdrawal(enrollment, base, {
          assets: [["USDC", dollars(9n)]],
          to,
          sign: wallet.signTypedData
        })
        assert.isTrue(yield* verifier.isSignedByOwner(withdrawal))
        assert.isFalse(yield* verifier.isSignedByOwner({ ...withdrawal, signature: `0x${"1b".repeat(65)}` }))
        assert.isTrue((yield* withdraw(withdrawal)).success)
        assert.strictEqual(yield* balance(base, "USDC", to), dollars(9n))

        const later = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", 1n]], sign: wallet.signTypedData })
        yield* Effect.promise(() => wallet.replaceSigner(stranger.address))
        assert.isFalse(yield* verifier.isSignedByOwner(later))
        const unavailable = yield* Effect.flip(
          Effect.flatMap(WithdrawalVerifier, (other) => other.isSignedByOwner(later)).pipe(
            Effect.provide(withoutChains)
          )
        )
        assert.strictEqual(unavailable._tag, "VerifierUnavailable")
      })
    )

    it.effect("a chain that does not answer is unavailable, not a refusal", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* enroll(210n, [[base, "USDC"]])
        const withdrawal = yield* signedWithdrawal(enrollment, base, { assets: [["USDC", 1n]] })
        const failing = <A, E extends { readonly _tag: string }>(
          ask: (port: WithdrawalTransactions["Service"]) => Effect.Effect<A, E>
        ) =>
          Effect.map(
            Effect.flip(Effect.provide(Effect.flatMap(WithdrawalTransactions, ask), withoutChains)),
            ({ _tag }) => _tag
          )
        assert.strictEqual(yield* failing((port) => port.standing(withdrawal)), "ChainUnavailable")
        assert.strictEqual(yield* failing((port) => port.prepare(withdrawal)), "ChainUnavailable")
      })
    )
  })
})

/** The adapter with endpoints at which nothing listens. */
const withoutChains = Layer.unwrap(
  Effect.map(EvmWorld, ({ arbitrum, base }) =>
    Layer.fresh(EvmLive).pipe(
      Layer.provide(NoAttestor),
      Layer.provide(
        Layer.succeed(
          EvmConfig,
          configFor([base, arbitrum], () => "http://127.0.0.1:1")
        )
      ),
      Layer.provide(SecureRandom.layerWebCrypto)
    )
  )
)

const enrollContract = Effect.fnUntraced(function* (
  chain: Chain,
  wallet: { readonly address: Address; readonly signTypedData: (typedData: unknown) => Promise<Hex> }
) {
  const accounts = yield* SmartAccounts
  const authorization = yield* accounts.authorize({
    accountType: "ERC1271",
    ownerAccountId: evmWallet(getAddress(wallet.address) as string as EvmAddress),
    accountIndex: 0n,
    withdrawalDomainName,
    chains: [{ chainId: chainIdOf(chain), assets: [asset(chain, "USDC")] }]
  })
  const ownerSignature = yield* Effect.promise(() => wallet.signTypedData(typedDataMessage(authorization).typedData))
  return { authorization, ownerSignature, account: addressOf(authorization.chains[0].accountId) } satisfies Enrollment
})
