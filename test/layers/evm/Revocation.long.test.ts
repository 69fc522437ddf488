/**
 * An owner's revocation on real chains: afterwards the agent's key can do nothing, by whatever permission, used or not,
 * and the owner's next signature lets it trade again.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Option, Schedule } from "effect"
import { type Address, encodeFunctionData, erc20Abi, getAddress, type Hex } from "viem"
import { type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import { ownerMessage } from "#domain/account/OwnerMessage.ts"
import type { Revocation } from "#domain/account/Revocation.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { RevocationTransactions } from "#domain/revocation/RevocationTransactions.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import {
  type Enrollment,
  EvmWorld,
  EvmWorldLive,
  GuardedWorldLive,
  accountOn,
  asset,
  batchOf,
  chainIdOf,
  enroll,
  execute,
  fund,
  owner,
  quotedSwap,
  stranger,
  token,
  withdrawalDomainName
} from "#test/layers/evm/EvmWorld.ts"
import { agentAccount } from "#test/layers/evm/account/sdkAccount.ts"
import { outcomeOf, submitAlone } from "#test/layers/evm/relay/selfSubmitted.ts"
import { dollars, submit } from "#test/layers/evm/tradingAccount.ts"
import { deployContractWallet } from "#test/support/contractWallet.ts"
import { addressOf } from "#layers/evm/address.ts"

const swapOn = (chain: Chain) => quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })

const draftFor = Effect.fnUntraced(function* ({ authorization }: Enrollment) {
  const { accountIndex, accountType, chains, ownerAccountId } = authorization
  const [first, ...others] = chains.map(({ accountId, chainId, permissionId }) => ({
    accountId,
    chainId,
    permissionId
  }))
  const execution = yield* RevocationTransactions
  return yield* execution.draft({
    accountType,
    accountIndex,
    ownerAccountId,
    withdrawalDomainName,
    accounts: [first!, ...others]
  })
})

const signedByOwner = (revocation: Revocation) =>
  Effect.promise(() => owner.signMessage({ message: { raw: revocation.root as Hex } }))

/** Puts the owner's signature on every chain of the revocation. */
const submitRevocation = Effect.fnUntraced(function* (revocation: Revocation, signature: string) {
  const execution = yield* RevocationTransactions
  const relayer = yield* Relayer
  return yield* Effect.forEach(revocation.chains, (chain) =>
    Effect.gen(function* () {
      assert.isFalse(yield* execution.hasEnded(chain))
      const prepared = yield* execution.prepare({ revocation, signature }, chain)
      const sent = yield* relayer.sign(prepared, prepared.chainNonce)
      yield* relayer.broadcast(sent)
      const receipt = yield* execution
        .find(sent, chain)
        .pipe(Effect.flatMap(Effect.fromOption), Effect.retry({ times: 200, schedule: Schedule.spaced("20 millis") }))
      assert.isTrue(receipt.success)
      assert.isTrue(yield* execution.hasEnded(chain))
      return receipt
    })
  )
})

/** What becomes of the plainest call of the agent's own, which every permission allows. */
const approval = (
  chain: Chain,
  enrollment: Enrollment,
  { enableSignature, spender }: { readonly spender: Address; readonly enableSignature?: Hex | undefined }
) =>
  Effect.promise(async () => {
    const account = await agentAccount(chain, enrollment, enableSignature === undefined ? {} : { enableSignature })
    const data = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, 1n] })
    const call = { to: token(chain, "USDC") as string as Address, value: 0n, data }
    return outcomeOf(await submitAlone(chain, account, await account.encodeCalls([call])))
  })

const cause = Effect.fnUntraced(function* (enrollment: Enrollment, chain: Chain) {
  const execution = yield* SwapBatches
  const error = yield* Effect.flip(execution.prepare(batchOf(enrollment, chain, [yield* swapOn(chain)])))
  return error._tag === "AuthorizationRequired" ? error.cause : `${error._tag}: ${error.reason}`
})

const renewed = Effect.fnUntraced(function* (enrollment: Enrollment, chain: Chain) {
  const accounts = yield* SmartAccounts
  const { accountIndex, accountType, chains, ownerAccountId } = enrollment.authorization
  const accountId = accountOn(enrollment, chain)
  const authorization = yield* accounts.authorize({
    accountType,
    ownerAccountId,
    accountIndex,
    withdrawalDomainName,
    chains: [
      {
        chainId: chainIdOf(chain),
        assets: ["USDC", "WETH"].map((symbol) => asset(chain, symbol)),
        enableNonce: yield* accounts.enableNonce(accountId)
      }
    ]
  })
  assert.strictEqual(authorization.chains[0].accountId, chains[0].accountId)
  const ownerSignature = yield* Effect.promise(() => owner.signMessage({ message: { raw: authorization.root as Hex } }))
  return { ...enrollment, authorization, ownerSignature } satisfies Enrollment
})

const kinds = [
  { what: "under the guard", world: GuardedWorldLive, spender: (chain: Chain) => chain.contracts.guard, first: 601n },
  {
    what: "under the old permission",
    world: EvmWorldLive,
    spender: (chain: Chain) => chain.contracts.router,
    first: 651n
  }
] as const

for (const { first, spender, what, world } of kinds) {
  describe(`a revocation of a permission ${what}`, () => {
    layer(world, { excludeTestServices: true })((it) => {
      it.effect("ends it on every chain with one signature, and a new signature lets the agent trade again", () =>
        Effect.gen(function* () {
          const { arbitrum, base } = yield* EvmWorld
          const enrollment = yield* enroll(first, [
            [base, "USDC", "WETH"],
            [arbitrum, "USDC", "WETH"]
          ])
          for (const chain of [base, arbitrum]) {
            yield* fund(chain, enrollment.account, { symbol: "USDC", raw: dollars(100n) })
            yield* execute(batchOf(enrollment, chain, [yield* swapOn(chain)]))
            assert.strictEqual(yield* approval(chain, enrollment, { spender: spender(chain) }), "included")
          }
          const revocation = yield* draftFor(enrollment)
          assert.strictEqual(revocation.chains.length, 2)
          const receipts = yield* submitRevocation(revocation, yield* signedByOwner(revocation))
          for (const { gasUsed } of receipts) assert.isBelow(Number(gasUsed), 140_000)
          for (const chain of [base, arbitrum]) {
            assert.notStrictEqual(yield* approval(chain, enrollment, { spender: spender(chain) }), "included")
            assert.strictEqual(yield* cause(enrollment, chain), "permission_revoked")
          }
          const again = yield* renewed(enrollment, base)
          assert.isTrue((yield* execute(batchOf(again, base, [yield* swapOn(base)]))).receipt.success)
        })
      )

      it.effect("makes a signature void that was never used, and deploys the account for it", () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const enrollment = yield* enroll(first + 1n, [[base, "USDC", "WETH"]])
          yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(100n) })
          const revocation = yield* draftFor(enrollment)
          const [receipt] = yield* submitRevocation(revocation, yield* signedByOwner(revocation))
          assert.isBelow(Number(receipt!.gasUsed), 400_000)
          assert.strictEqual(yield* cause(enrollment, base), "permission_revoked")
          const again = yield* renewed(enrollment, base)
          assert.isTrue((yield* execute(batchOf(again, base, [yield* swapOn(base)]))).receipt.success)
        })
      )

      it.effect("is found when somebody else submits it", () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const execution = yield* RevocationTransactions
          const enrollment = yield* enroll(first + 2n, [[base, "USDC", "WETH"]])
          yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(100n) })
          yield* execute(batchOf(enrollment, base, [yield* swapOn(base)]))
          const revocation = yield* draftFor(enrollment)
          const [chain] = revocation.chains
          const signature = yield* signedByOwner(revocation)
          const prepared = yield* execution.prepare({ revocation, signature }, chain)
          const sent = yield* (yield* Relayer).sign(prepared, prepared.chainNonce)
          const { status } = yield* submit(base, stranger, { data: prepared.callData as Hex })
          assert.strictEqual(status, "success")
          assert.isTrue(yield* execution.hasEnded(chain))
          assert.isTrue(Option.getOrThrow(yield* execution.find(sent, chain)).success)
        })
      )

      it.effect("is refused with a signature of anybody else, and changes nothing", () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const execution = yield* RevocationTransactions
          const enrollment = yield* enroll(first + 3n, [[base, "USDC", "WETH"]])
          yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(100n) })
          yield* execute(batchOf(enrollment, base, [yield* swapOn(base)]))
          const revocation = yield* draftFor(enrollment)
          const signature = yield* Effect.promise(() =>
            stranger.signMessage({ message: { raw: revocation.root as Hex } })
          )
          const error = yield* Effect.flip(execution.prepare({ revocation, signature }, revocation.chains[0]))
          assert.include(error._tag === "SimulationFailed" ? error.reason : error._tag, "AA24")
          assert.strictEqual(yield* approval(base, enrollment, { spender: spender(base) }), "included")
        })
      )
    })
  })
}

describe("a revocation by an owner that is a contract", () => {
  layer(GuardedWorldLive, { excludeTestServices: true })((it) => {
    it.effect("ends the permission by the contract's signature on its chain", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const accounts = yield* SmartAccounts
        const wallet = yield* Effect.promise(() => deployContractWallet(base.rpcUrl))
        const authorization = yield* accounts.authorize({
          accountType: "ERC1271",
          ownerAccountId: evmWallet(getAddress(wallet.address) as string as EvmAddress),
          accountIndex: 0n,
          withdrawalDomainName,
          chains: [{ chainId: chainIdOf(base), assets: ["USDC", "WETH"].map((symbol) => asset(base, symbol)) }]
        })
        const sign = (digest: Parameters<typeof ownerMessage>[0]) =>
          Effect.promise(() => {
            const message = ownerMessage(digest)
            if (message.kind !== "typed-data") throw new Error("a contract signs typed data")
            return wallet.signTypedData(message.typedData)
          })
        const account = addressOf(authorization.chains[0].accountId)
        const enrollment: Enrollment = { authorization, ownerSignature: yield* sign(authorization), account }
        yield* fund(base, account, { symbol: "USDC", raw: dollars(100n) })
        assert.isTrue((yield* execute(batchOf(enrollment, base, [yield* swapOn(base)]))).receipt.success)
        const revocation = yield* draftFor(enrollment)
        const signature = yield* sign(revocation)
        assert.isTrue(yield* accounts.isSignedByOwner(revocation, signature))
        yield* submitRevocation(revocation, signature)
        assert.strictEqual(yield* cause(enrollment, base), "permission_revoked")
      })
    )
  })
})
