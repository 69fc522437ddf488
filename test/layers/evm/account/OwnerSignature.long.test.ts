/** Which refusals of an account mean that its owner must sign anew, and that signing anew is enough. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Address, getAddress, type Hex } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import { typedDataMessage } from "#domain/account/OwnerMessage.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { requireAuthorization } from "#layers/evm/execution/requireAuthorization.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import {
  type Enrollment,
  EvmWorld,
  EvmWorldLive,
  asset,
  batchOf,
  chainIdOf,
  configFor,
  enroll,
  execute,
  fund,
  owner,
  quotedSwap,
  relayer,
  withdrawalDomainName
} from "#test/layers/evm/EvmWorld.ts"
import { removePermission, revokeAll } from "#test/layers/evm/account/sdkAccount.ts"
import { deployAccount, dollars, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import { deployContractWallet } from "#test/support/contractWallet.ts"
import { addressOf } from "#layers/evm/address.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"
import { viemTypedData } from "#test/layers/evm/viemTypedData.ts"

const swapOn = (chain: Chain) => quotedSwap(chain, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })

const refusal = Effect.fnUntraced(function* (enrollment: Enrollment, chain: Chain) {
  const execution = yield* SwapBatches
  const error = yield* Effect.flip(execution.prepare(batchOf(enrollment, chain, [yield* swapOn(chain)])))
  return error._tag === "AuthorizationRequired" ? error.cause : `${error._tag}: ${error.reason}`
})

/** Authorizes the account anew at the nonce that its chain shows; unsigned. */
const renew = Effect.fnUntraced(function* ({ authorization }: Enrollment, chain: Chain) {
  const accounts = yield* SmartAccounts
  const { accountIndex, accountType, chains, ownerAccountId } = authorization
  const enableNonce = yield* accounts.enableNonce(chains[0].accountId)
  const assets = ["USDC", "WETH", "AERO"].map((symbol) => asset(chain, symbol))
  const renewed = yield* accounts.authorize({
    accountType,
    ownerAccountId,
    accountIndex,
    withdrawalDomainName,
    chains: [{ chainId: chainIdOf(chain), assets, enableNonce }]
  })
  assert.strictEqual(renewed.chains[0].accountId, chains[0].accountId)
  return renewed
})

const signedAnew = Effect.fnUntraced(function* (enrollment: Enrollment, chain: Chain) {
  const authorization = yield* renew(enrollment, chain)
  const ownerSignature = yield* Effect.promise(() => owner.signMessage({ message: { raw: authorization.root as Hex } }))
  return { ...enrollment, authorization, ownerSignature } satisfies Enrollment
})

/** Ways to take back what is enabled, and what is left of a permission that was never used. */
const revocations = [
  {
    what: "all permissions made void",
    index: 301n,
    begin: (index: bigint) => tradingAccount(index),
    revoke: (chain: Chain, index: bigint, _: Enrollment) => revokeAll(chain, owner, index)
  },
  {
    what: "the permission removed",
    index: 302n,
    begin: (index: bigint) => tradingAccount(index),
    revoke: (chain: Chain, index: bigint, { authorization }: Enrollment) =>
      removePermission(chain, { signer: owner, index }, authorization.chains[0].permissionId as Hex)
  },
  {
    what: "the signature made void before it was used",
    index: 303n,
    begin: Effect.fnUntraced(function* (index: bigint) {
      const { base } = yield* EvmWorld
      const enrollment = yield* enroll(index, [[base, "USDC", "WETH", "AERO"]])
      yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(1_000n) })
      yield* deployAccount(base, enrollment.authorization)
      return enrollment
    }),
    revoke: (chain: Chain, index: bigint, _: Enrollment) => revokeAll(chain, owner, index)
  }
] as const

describe("An owner's signature", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    for (const { begin, index, revoke, what } of revocations) {
      it.effect(`${what}: is required anew, and then the account trades again`, () =>
        Effect.gen(function* () {
          const { base } = yield* EvmWorld
          const enrollment = yield* begin(index)
          yield* Effect.promise(() => revoke(base, index, enrollment))
          assert.strictEqual(yield* refusal(enrollment, base), "permission_revoked")
          const renewed = yield* signedAnew(enrollment, base)
          assert.isTrue((yield* execute(batchOf(renewed, base, [yield* swapOn(base)]))).receipt.success)
          assert.isTrue((yield* execute(batchOf(renewed, base, [yield* swapOn(base)]))).receipt.success)
        })
      )
    }

    it.effect("is required anew for another agent than the service's", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const enrollment = yield* enroll(304n, [[base, "USDC", "WETH"]])
        const agentAccountId = evmWallet(owner.address as string as EvmAddress)
        const authorization = { ...enrollment.authorization, agentAccountId }
        assert.strictEqual(yield* refusal({ ...enrollment, authorization }, base), "agent_changed")
      })
    )

    it.effect("of a contract is required anew when the contract stands by it no longer", () =>
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
        const ownerSignature = yield* Effect.promise(() =>
          wallet.signTypedData(typedDataMessage(authorization).typedData)
        )
        const account = addressOf(authorization.chains[0].accountId)
        const enrollment: Enrollment = { authorization, ownerSignature, account }
        yield* fund(base, account, { symbol: "USDC", raw: dollars(100n) })
        const next = privateKeyToAccount(generatePrivateKey())
        yield* Effect.promise(() => wallet.replaceSigner(next.address))
        assert.strictEqual(yield* refusal(enrollment, base), "signature_refused")

        const renewed = yield* renew(enrollment, base)
        const signature = yield* Effect.promise(() =>
          next.signTypedData(viemTypedData(typedDataMessage(renewed).typedData))
        )
        assert.isTrue(yield* accounts.isSignedByOwner(renewed, signature))
        const again = { ...enrollment, authorization: renewed, ownerSignature: signature }
        assert.isTrue((yield* execute(batchOf(again, base, [yield* swapOn(base)]))).receipt.success)
      })
    )

    it.effect("is not required when the account only changed while the operation was built", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const execution = yield* SwapBatches
        const enrollment = yield* enroll(305n, [[base, "USDC", "WETH"]])
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: dollars(100n) })
        const stale = asTransaction(yield* execution.prepare(batchOf(enrollment, base, [yield* swapOn(base)])))
        yield* execute(batchOf(enrollment, base, [yield* swapOn(base)]))
        const { authorization } = enrollment
        const error = yield* requireAuthorization({
          authorization,
          chain: authorization.chains[0],
          mode: "enable",
          relayer: relayer.address as Address,
          handleOps: stale.callData as Hex,
          gas: stale.gasLimit
        }).pipe(Effect.provide(EvmClients.layer), Effect.provideService(EvmConfig, configFor([base])), Effect.flip)
        assert.strictEqual(error._tag, "ChainUnavailable")
      })
    )
  })
})
