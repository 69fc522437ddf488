/** Withdrawals of the native coin on real chains, by owners' real signatures over operations of the account. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type Address, getAddress, type Hex, type TypedDataDefinition } from "viem"
import { type EvmAddress, evmAccount, evmWallet } from "#domain/values/Caip.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { ownerMessage } from "#domain/account/OwnerMessage.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import { addressOf } from "#layers/evm/address.ts"
import { type Chain, setEther } from "#sandbox/chain/Chain.ts"
import {
  accountOn,
  chainIdOf,
  type Enrollment,
  enroll,
  EvmWorld,
  owner,
  stranger,
  token,
  withdrawalDomainName
} from "#test/layers/evm/EvmWorld.ts"
import { tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import {
  submit,
  expire,
  recipient,
  refusedBecause,
  withdraw,
  WithdrawalWorldLive
} from "#test/layers/evm/withdrawal/WithdrawalWorld.ts"
import { deployContractWallet } from "#test/support/contractWallet.ts"

const ether = 10n ** 18n

/** A recipient that nothing else of these tests sends to. */
const fresh = (n: number) => getAddress(`0x${n.toString(16).padStart(40, "d")}`) as string as EvmAddress

const held = (chain: Chain, address: EvmAddress) =>
  Effect.promise(() => chain.client.getBalance({ address: address as string as Address }))

let drawn = 0

/** What stage 1 issues, from the account's next nonce. */
const issued = Effect.fnUntraced(function* (
  enrollment: Enrollment,
  chain: Chain,
  { raw, to = recipient }: { readonly raw: bigint; readonly to?: EvmAddress }
) {
  const accountId = accountOn(enrollment, chain)
  const block = yield* Effect.promise(() => chain.client.getBlock())
  drawn += 1
  const message: WithdrawalMessage = {
    portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" as PortfolioId,
    recipientAccountId: evmAccount(chainIdOf(chain), to),
    assets: [{ assetId: nativeCoinOn(chainIdOf(chain))!.assetId, amountRaw: raw.toString() }],
    nonce: yield* (yield* WithdrawalVerifier).nativeNonce(accountId, new Uint8Array(32).fill(drawn)),
    expiresAt: Number(block.timestamp) + 600
  }
  return {
    message,
    signature: "0x",
    accountId,
    grant: enrollment,
    acceptedAtBlock: block.number,
    swap: {
      strategy: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
      tenant: { slippageBps: null, priceImpactBps: null, thresholdUsd: null },
      accepted: null
    }
  } satisfies StoredWithdrawal
})

const digestOf = (unsigned: StoredWithdrawal) =>
  Effect.map(WithdrawalVerifier, (verifier) => Option.getOrThrow(verifier.nativeDigest(unsigned)) as Hex)

const signedBy = Effect.fnUntraced(function* (unsigned: StoredWithdrawal, signer: typeof owner = owner) {
  const raw = yield* digestOf(unsigned)
  const signature = yield* Effect.promise(() => signer.signMessage({ message: { raw } }))
  return { ...unsigned, signature }
})

const payment = Effect.fnUntraced(function* (
  enrollment: Enrollment,
  chain: Chain,
  terms: { readonly raw: bigint; readonly to?: EvmAddress }
) {
  return yield* signedBy(yield* issued(enrollment, chain, terms))
})

/** Submits the withdrawal as anybody may. */
const submittedByOthers = Effect.fnUntraced(function* (chain: Chain, withdrawal: StoredWithdrawal) {
  const verifier = yield* WithdrawalVerifier
  const { data, to } = Option.getOrThrow(verifier.selfSubmission(withdrawal)).withdraw
  return yield* Effect.promise(async () => {
    const hash = await chain.client.sendTransaction({
      account: stranger,
      to: to as string as Address,
      data: data as Hex,
      gas: 2_000_000n
    })
    return chain.client.waitForTransactionReceipt({ hash })
  })
})

describe("withdrawals of the native coin", () => {
  layer(WithdrawalWorldLive, { excludeTestServices: true })((it) => {
    it.effect("the recipient gets exactly what the owner signed, once", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const verifier = yield* WithdrawalVerifier
        const enrollment = yield* tradingAccount(801n)
        yield* setEther(base, enrollment.account as string as Address, 2n * ether)
        const withdrawal = yield* payment(enrollment, base, { raw: ether / 2n, to: fresh(1) })
        assert.isTrue(yield* verifier.isSignedByOwner(withdrawal))
        assert.deepStrictEqual(yield* execution.standing(withdrawal), { _tag: "Open" })
        const receipt = yield* withdraw(withdrawal)
        assert.isTrue(receipt.success)
        assert.strictEqual(receipt.actionHash, yield* digestOf(withdrawal))
        assert.strictEqual(yield* held(base, fresh(1)), ether / 2n)
        assert.strictEqual(yield* held(base, enrollment.account), ether + ether / 2n)
        const { assetId } = withdrawal.message.assets[0]!
        assert.deepStrictEqual(yield* execution.delivered(withdrawal, receipt), [{ assetId, raw: ether / 2n }])
        const standing = yield* execution.standing(withdrawal)
        assert.strictEqual(standing._tag === "Landed" ? standing.receipt.txHash : "", receipt.txHash)
        assert.match(yield* refusedBecause(withdrawal), /AA25/u)
        assert.strictEqual(yield* held(base, fresh(1)), ether / 2n)
      })
    )

    it.effect("an account that is not deployed yet is deployed on the way, on either chain", () =>
      Effect.gen(function* () {
        const { arbitrum, base } = yield* EvmWorld
        const enrollment = yield* enroll(802n, [
          [base, "USDC"],
          [arbitrum, "USDC"]
        ])
        for (const chain of [base, arbitrum]) {
          yield* setEther(chain, enrollment.account as string as Address, 2n * ether)
          assert.isTrue((yield* withdraw(yield* payment(enrollment, chain, { raw: ether, to: fresh(2) }))).success)
          // And all that is left, now that it is there.
          assert.isTrue((yield* withdraw(yield* payment(enrollment, chain, { raw: ether, to: fresh(2) }))).success)
          assert.strictEqual(yield* held(chain, fresh(2)), 2n * ether)
          const read = yield* (yield* Balances).read(accountOn(enrollment, chain), [])
          assert.deepStrictEqual(read.native, { assetId: nativeCoinOn(chainIdOf(chain))!.assetId, raw: 0n })
        }
      })
    )

    it.effect("of two at one nonce the chain carries one out, and the other is closed", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const enrollment = yield* tradingAccount(803n)
        yield* setEther(base, enrollment.account as string as Address, 2n * ether)
        const first = yield* payment(enrollment, base, { raw: ether, to: fresh(3) })
        const second = yield* payment(enrollment, base, { raw: ether, to: fresh(3) })
        const prepared = asTransaction(yield* execution.prepare(second))
        assert.strictEqual((yield* submittedByOthers(base, first)).status, "success")
        const standing = yield* execution.standing(second)
        assert.strictEqual(standing._tag, "Closed")
        if (standing._tag === "Closed") assert.include(standing.reason, "used by another authorization of the owner")
        // Sent all the same, it is reverted as a whole.
        assert.isFalse((yield* submit(second, prepared)).success)
        assert.strictEqual(yield* held(base, fresh(3)), ether)
      })
    )

    it.effect("somebody else's submission is found", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const enrollment = yield* tradingAccount(804n)
        yield* setEther(base, enrollment.account as string as Address, ether)
        const withdrawal = yield* payment(enrollment, base, { raw: ether, to: fresh(4) })
        const prepared = asTransaction(yield* execution.prepare(withdrawal))
        const elsewhere = yield* submittedByOthers(base, withdrawal)
        const receipt = yield* submit(withdrawal, prepared)
        assert.isTrue(receipt.success)
        assert.strictEqual(receipt.txHash, elsewhere.transactionHash)
        assert.strictEqual(yield* held(base, fresh(4)), ether)
      })
    )

    it.effect("a recipient that does not take it is found before anything is sent, and when it was sent", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const relay = yield* Relayer
        const enrollment = yield* tradingAccount(805n)
        yield* setEther(base, enrollment.account as string as Address, ether)
        const to = token(base, "USDC") as string as EvmAddress
        const withdrawal = yield* payment(enrollment, base, { raw: ether, to })
        assert.include(yield* refusedBecause(withdrawal), "does not take the native coin")
        assert.deepStrictEqual(yield* execution.standing(withdrawal), { _tag: "Open" })

        const willing = yield* payment(enrollment, base, { raw: ether, to: fresh(5) })
        const prepared = asTransaction(yield* execution.prepare(willing))
        // What the account holds leaves it between the simulation and the block.
        yield* setEther(base, enrollment.account as string as Address, ether - 1n)
        const signed = yield* relay.sign(prepared, prepared.chainNonce)
        yield* relay.broadcast(signed)
        yield* Effect.promise(() => base.client.mine({ blocks: 1 }))
        const found = Option.getOrThrow(yield* execution.find(signed, willing))
        assert.isFalse(found.success)
        assert.isNotNull(found.blockHash)
        const standing = yield* execution.standing(willing)
        assert.strictEqual(standing._tag, "Closed")
        if (standing._tag === "Closed") assert.include(standing.reason, "nothing moved")
        assert.strictEqual(yield* held(base, fresh(5)), 0n)
      })
    )

    it.effect("nobody else's signature, and no other message, is good", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const verifier = yield* WithdrawalVerifier
        const enrollment = yield* tradingAccount(806n)
        yield* setEther(base, enrollment.account as string as Address, ether)
        const withdrawal = yield* payment(enrollment, base, { raw: ether, to: fresh(6) })
        const stolen = yield* signedBy(withdrawal, stranger)
        const { message } = withdrawal
        const changed: ReadonlyArray<StoredWithdrawal> = [
          stolen,
          { ...withdrawal, message: { ...message, expiresAt: message.expiresAt + 1 } },
          { ...withdrawal, message: { ...message, portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K9" as PortfolioId } },
          { ...withdrawal, message: { ...message, assets: [{ ...message.assets[0]!, amountRaw: "1" }] } },
          { ...withdrawal, message: { ...message, nonce: `0x${"ab".repeat(24)}${message.nonce.slice(50)}` } }
        ]
        for (const other of changed) {
          assert.isFalse(yield* verifier.isSignedByOwner(other))
          assert.match(yield* refusedBecause(other), /AA24/u)
        }
        assert.isTrue((yield* withdraw(withdrawal)).success)
      })
    )

    it.effect("the service carries out none that expired", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const enrollment = yield* tradingAccount(807n)
        yield* setEther(base, enrollment.account as string as Address, ether)
        const withdrawal = yield* payment(enrollment, base, { raw: ether, to: fresh(7) })
        yield* expire(base, withdrawal)
        const standing = yield* execution.standing(withdrawal)
        assert.strictEqual(standing._tag, "Closed")
        if (standing._tag === "Closed") assert.include(standing.reason, "expired before the service carried it out")
      })
    )

    it.effect("what was signed for the chain in time is not given up, since it may still land", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* WithdrawalTransactions
        const relay = yield* Relayer
        const enrollment = yield* tradingAccount(809n)
        yield* setEther(base, enrollment.account as string as Address, ether)
        const withdrawal = yield* payment(enrollment, base, { raw: ether, to: fresh(9) })
        const prepared = asTransaction(yield* execution.prepare(withdrawal))
        const signed = yield* relay.sign(prepared, prepared.chainNonce)
        yield* expire(base, withdrawal)
        assert.isTrue(Option.isNone(yield* execution.find(signed, withdrawal)))
        assert.isTrue((yield* submit(withdrawal, prepared)).success)
        assert.strictEqual(yield* held(base, fresh(9)), ether)
      })
    )

    it.effect("an owner that is a contract decides, off chain and on chain", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const verifier = yield* WithdrawalVerifier
        const wallet = yield* Effect.promise(() => deployContractWallet(base.rpcUrl))
        const ownerAccountId = evmWallet(getAddress(wallet.address) as string as EvmAddress)
        const authorization = yield* (yield* SmartAccounts).authorize({
          accountType: "ERC1271",
          ownerAccountId,
          accountIndex: 808n,
          withdrawalDomainName,
          chains: [{ chainId: chainIdOf(base), assets: [] }]
        })
        const account = addressOf(authorization.chains[0].accountId)
        const enrollment = { authorization, ownerSignature: "0x", account }
        yield* setEther(base, account as string as Address, ether)
        const unsigned = yield* issued(enrollment, base, { raw: ether, to: fresh(8) })
        const { accountId } = unsigned
        const signed = ownerMessage({
          accountType: "ERC1271",
          ownerAccountId,
          root: yield* digestOf(unsigned),
          chains: [{ chainId: chainIdOf(base), accountId }]
        })
        if (signed.kind !== "typed-data") return assert.fail("a contract signs typed data")
        const typedData = signed.typedData as unknown as TypedDataDefinition
        const withdrawal = {
          ...unsigned,
          signature: yield* Effect.promise(() => wallet.signTypedData(typedData))
        }
        assert.isTrue(yield* verifier.isSignedByOwner(withdrawal))
        assert.isFalse(yield* verifier.isSignedByOwner({ ...withdrawal, signature: `0x${"1b".repeat(65)}` }))
        assert.isTrue((yield* withdraw(withdrawal)).success)
        assert.strictEqual(yield* held(base, fresh(8)), ether)
      })
    )
  })
})
