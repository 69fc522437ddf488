/** Owners' signatures over withdrawals: a key's is recovered here, a contract is asked on its chain (ERC-1271). */
import { Effect, Layer } from "effect"
import { encodeFunctionData, type Hex, parseAbi, recoverAddress, size, slice } from "viem"
import { addressOf, chainIdOf } from "#domain/Caip.ts"
import { VerifierUnavailable } from "#domain/Errors.ts"
import type { AuthorizedWithdrawal } from "#domain/withdrawal/AuthorizedWithdrawal.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import { ownerSignature } from "#layers/evm/account/ownerSignature.ts"
import { toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/EvmClients.ts"
import { multicall } from "#layers/evm/multicall.ts"
import { withdrawalDigest } from "#layers/evm/withdrawal/executorCalls.ts"

const erc1271Abi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"])
const valid = "0x1626ba7e"

/** The call goes through Multicall3, which tells a contract that reverts, a refusal, from a chain that does not answer. */
const isApprovedByContract = Effect.fnUntraced(function* (
  { accountId, grant }: AuthorizedWithdrawal,
  digest: Hex,
  signature: Hex
) {
  const chainId = chainIdOf(accountId)
  const [answer] = yield* multicall(chainId, [
    {
      target: toViem(addressOf(grant.authorization.ownerAccountId)),
      data: encodeFunctionData({ abi: erc1271Abi, functionName: "isValidSignature", args: [digest, signature] })
    }
  ]).pipe(
    Effect.tapError((error) => Effect.logWarning("An owner's contract cannot be asked", error)),
    Effect.mapError(
      () =>
        new VerifierUnavailable({
          message: `Chain ${chainId} cannot be asked about the owner's contract now; nothing was stored, send the same request again`
        })
    )
  )
  return answer?.success === true && size(answer.data) >= 32 && slice(answer.data, 0, 4) === valid
})

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
        if (accountType === "ERC1271") return yield* isApprovedByContract(withdrawal, digest, signature)
        const signer = yield* Effect.promise(() => recoverAddress({ hash: digest, signature }).catch(() => undefined))
        return signer === toViem(addressOf(ownerAccountId))
      },
      Effect.provideService(EvmClients, clients)
    )

    return WithdrawalVerifier.of({ isSignedByOwner })
  })
)
