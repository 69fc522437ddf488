/** Owners' signatures over withdrawals: a key's is recovered here, a contract is called on its chain (ERC-1271). */
import { Effect, Layer, Option } from "effect"
import { recoverAddress } from "viem"
import type { OwnerDigest } from "#domain/account/OwnerMessage.ts"
import { type AccountId, chainIdOf } from "#domain/values/Caip.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import { isSignedByContract, standsBy } from "#layers/evm/account/contractOwner.ts"
import { nonceUnknown } from "#layers/evm/account/enableNonce.ts"
import { accountDeployment } from "#layers/evm/account/kernelAccount.ts"
import { ownerSignature, signerOf } from "#layers/evm/account/ownerSignature.ts"
import { addressOf, fromViem, toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"
import { withdrawalDigest, withdrawCall } from "#layers/evm/account/executorCalls.ts"
import {
  messageNonce,
  nativeDigest,
  nativeOperation,
  nextNonceCall,
  payCall
} from "#layers/evm/withdrawal/nativeWithdrawal.ts"

const selfSubmission = (withdrawal: AuthorizedWithdrawal) => {
  const { authorization } = withdrawal.grant
  const signature = ownerSignature(authorization.accountType, withdrawal.signature) ?? "0x"
  const { factory, factoryData } = accountDeployment(authorization)
  const operation = nativeOperation(withdrawal)
  const { data, target } =
    operation === undefined ? withdrawCall(withdrawal, signature) : payCall(withdrawal, operation, signature)
  return Option.some({ deploy: { to: fromViem(factory), data: factoryData }, withdraw: { to: fromViem(target), data } })
}

/** Digest that an owner which is a contract signed, as it signs operations of the account. */
const signedBy = ({ accountId, grant }: AuthorizedWithdrawal, root: string): OwnerDigest => ({
  accountType: grant.authorization.accountType,
  ownerAccountId: grant.authorization.ownerAccountId,
  root,
  chains: [{ chainId: chainIdOf(accountId), accountId }]
})

export const WithdrawalVerifierLive = Layer.effect(
  WithdrawalVerifier,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    const isSignedByOwner = Effect.fn("WithdrawalVerifier.isSignedByOwner")(
      function* (withdrawal: AuthorizedWithdrawal) {
        const { accountType, ownerAccountId } = withdrawal.grant.authorization
        const native = nativeDigest(withdrawal)
        if (native !== undefined) {
          if (accountType === "ERC1271")
            return yield* isSignedByContract(signedBy(withdrawal, native), withdrawal.signature)
          const raw = yield* Effect.promise(() => signerOf({ raw: native }, withdrawal.signature))
          return raw === addressOf(ownerAccountId)
        }
        const digest = withdrawalDigest(withdrawal)
        const signature = ownerSignature(accountType, withdrawal.signature)
        if (digest === undefined || signature === undefined) return false
        if (accountType === "ERC1271") {
          return yield* standsBy(chainIdOf(withdrawal.accountId), ownerAccountId, { digest, signature })
        }
        const signer = yield* Effect.promise(() => recoverAddress({ hash: digest, signature }).catch(() => undefined))
        return signer === toViem(addressOf(ownerAccountId))
      },
      Effect.provideService(EvmClients, clients)
    )

    const nativeNonce = Effect.fn("WithdrawalVerifier.nativeNonce")(
      function* (accountId: AccountId, drawn: Uint8Array) {
        const [next] = (yield* multicall(chainIdOf(accountId), [nextNonceCall(accountId)])).map(uintOf)
        if (next == null) return yield* nonceUnknown(accountId)
        return messageNonce(drawn, next)
      },
      (effect, accountId) => Effect.catchTag(effect, "ChainUnavailable", () => Effect.fail(nonceUnknown(accountId))),
      Effect.provideService(EvmClients, clients)
    )

    return WithdrawalVerifier.of({
      isSignedByOwner,
      nativeNonce,
      nativeDigest: (withdrawal) => Option.fromUndefinedOr(nativeDigest(withdrawal)),
      // Bad recipients on an EVM chain are recognized without a call to the chain (resolveSource.ts).
      recipientProblem: () => Effect.succeedNone,
      selfSubmission
    })
  })
)
