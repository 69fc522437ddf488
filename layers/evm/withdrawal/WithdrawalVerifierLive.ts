/** Owners' signatures over withdrawals: a key's is recovered here, a contract is called on its chain (ERC-1271). */
import { Effect, Layer, Option } from "effect"
import { recoverAddress } from "viem"
import { chainIdOf } from "#domain/Caip.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import { standsBy } from "#layers/evm/account/contractOwner.ts"
import { accountDeployment } from "#layers/evm/account/kernelAccount.ts"
import { ownerSignature } from "#layers/evm/account/ownerSignature.ts"
import { addressOf, fromViem, toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { withdrawalDigest, withdrawCall } from "#layers/evm/account/executorCalls.ts"

const selfSubmission = (withdrawal: AuthorizedWithdrawal) => {
  const { authorization } = withdrawal.grant
  const signature = ownerSignature(authorization.accountType, withdrawal.signature) ?? "0x"
  const { factory, factoryData } = accountDeployment(authorization)
  const { data, target } = withdrawCall(withdrawal, signature)
  return Option.some({ deploy: { to: fromViem(factory), data: factoryData }, withdraw: { to: fromViem(target), data } })
}

export const WithdrawalVerifierLive = Layer.effect(
  WithdrawalVerifier,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    const isSignedByOwner = Effect.fn("WithdrawalVerifier.isSignedByOwner")(
      function* (withdrawal: AuthorizedWithdrawal) {
        const { accountType, ownerAccountId } = withdrawal.grant.authorization
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

    return WithdrawalVerifier.of({
      isSignedByOwner,
      // Bad recipients on an EVM chain are recognized without a call to the chain (resolveSource.ts).
      recipientProblem: () => Effect.succeedNone,
      selfSubmission
    })
  })
)
