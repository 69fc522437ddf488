/** Signatures over sign-in messages (ERC-4361) by keys (EIP-191) and by contracts (ERC-1271, ERC-6492). */
import { Effect, Layer } from "effect"
import { hashMessage, type Hex, isHex, recoverMessageAddress, size } from "viem"
import { isErc6492Signature, parseErc6492Signature } from "viem/utils"
import { type ChainId, evmAccount, evmWallet } from "#domain/values/Caip.ts"
import { VerifierUnavailable } from "#domain/errors/Errors.ts"
import type { SignInMessage } from "#domain/identity/siwe/SignInMessage.ts"
import { SignInVerifier } from "#domain/identity/SignInVerifier.ts"
import { maxSignatureBytes } from "#domain/account/OwnerMessage.ts"
import { foreignFrame, isAccepted, signatureCall } from "#layers/evm/account/contractOwner.ts"
import { canonicalSignature } from "#layers/evm/account/ownerSignature.ts"
import { toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import type { Call } from "#layers/evm/rpc/aggregate.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"

/** The call of the contract, after the one that deploys it when the signature has that. */
const callsOf = (account: Hex, hash: Hex, signature: Hex): ReadonlyArray<Call> => {
  const wrapped = isErc6492Signature(signature) ? parseErc6492Signature(signature) : undefined
  const ask = signatureCall(account, hash, wrapped?.signature ?? signature)
  return wrapped?.address === undefined || wrapped.data === undefined
    ? [ask]
    : [{ target: wrapped.address, data: wrapped.data }, ask]
}

export const SignInVerifierLive = Layer.effect(
  SignInVerifier,
  Effect.gen(function* () {
    const clients = yield* EvmClients

    const contractStandsBy = Effect.fnUntraced(
      function* (chainId: ChainId, account: Hex, { hash, signature }: { readonly hash: Hex; readonly signature: Hex }) {
        const answers = yield* multicall(chainId, callsOf(account, hash, signature), foreignFrame)
        return isAccepted(answers.at(-1))
      },
      Effect.provideService(EvmClients, clients),
      (effect, chainId) =>
        Effect.mapError(
          effect,
          () =>
            new VerifierUnavailable({
              message: `The wallet's contract on chain ${chainId} cannot be called right now; retry in a few seconds`
            })
        )
    )

    const signerOf = Effect.fn("SignInVerifier.signerOf")(function* (
      { address, chainId }: SignInMessage,
      text: string,
      signature: string
    ) {
      const ofKey = canonicalSignature(signature)
      if (ofKey !== undefined) {
        const signer = yield* Effect.promise(() =>
          recoverMessageAddress({ message: text, signature: ofKey }).catch(() => undefined)
        )
        if (signer === toViem(address)) return evmWallet(address)
      }
      const bytes = signature.toLowerCase()
      const chain = yield* Effect.option(clients.chain(chainId as ChainId))
      if (chain._tag === "None" || !isHex(bytes) || bytes.length % 2 !== 0 || size(bytes) > maxSignatureBytes)
        return undefined
      const isSigned = yield* contractStandsBy(chain.value.chainId, toViem(address), {
        hash: hashMessage(text),
        signature: bytes
      })
      return isSigned ? evmAccount(chain.value.chainId, address) : undefined
    })

    return SignInVerifier.of({ signerOf })
  })
)
