/** Owners that are contracts: whether they are there, and what they say about a signature. Source: ERC-1271. */
import { Effect } from "effect"
import { encodeFunctionData, hashTypedData, type Hex, parseAbi, slice, size } from "viem"
import type { ChainId, WalletId } from "#domain/values/Caip.ts"
import { type OwnerDigest, typedDataMessage } from "#domain/account/OwnerMessage.ts"
import { VerifierUnavailable } from "#domain/errors/Errors.ts"
import { ownerSignature } from "#layers/evm/account/ownerSignature.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"

const abi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"])
const valid = "0x1626ba7e"

/**
 * The gas that a foreign contract may use to check a signature. It is called in a request of its own: its code is
 * untrusted, and its effects on the state of a simulation must not reach other calls.
 */
export const foreignFrame = { gas: 5_000_000n }

/** Calls a contract to check a signature over a digest. */
export const signatureCall = (contract: Hex, digest: Hex, signature: Hex): Call => ({
  target: contract,
  data: encodeFunctionData({ abi, functionName: "isValidSignature", args: [digest, signature] })
})

/** Whether that is what it answered; a contract that reverts, or answers anything else, does not. */
export const isAccepted = (answer: CallResult | undefined): boolean =>
  answer?.success === true && size(answer.data) >= 32 && slice(answer.data, 0, 4) === valid

const unavailable = (chainId: ChainId) => () =>
  new VerifierUnavailable({
    message: `The owner's contract on chain ${chainId} cannot be called right now; nothing was stored, retry in a few seconds`
  })

/** The EIP-712 digest that an owner that is a contract signs. */
const contractOwnerDigest = (signed: OwnerDigest): Hex => {
  const { domain, message, primaryType, types } = typedDataMessage(signed).typedData
  return hashTypedData({
    domain: { ...domain, verifyingContract: domain.verifyingContract as Hex },
    types,
    primaryType,
    message: { hash: message.hash as Hex }
  })
}

export const hasCode = Effect.fnUntraced(
  function* (owner: WalletId, chainId: ChainId) {
    const { request } = yield* EvmClients
    const code = yield* request(chainId, "eth_getCode", (client) =>
      client.getCode({ address: toViem(addressOf(owner)) })
    )
    return code !== undefined && code !== "0x"
  },
  (effect, _, chainId) => Effect.mapError(effect, unavailable(chainId))
)

/**
 * Whether a contract accepts a signature over a digest, at the latest block. The call goes through Multicall3, which
 * separates a contract that reverts (a refusal) from a chain that does not answer.
 */
export const standsBy = Effect.fnUntraced(
  function* (
    chainId: ChainId,
    owner: WalletId,
    { digest, signature }: { readonly digest: Hex; readonly signature: Hex }
  ) {
    const call = signatureCall(toViem(addressOf(owner)), digest, signature)
    const [answer] = yield* multicall(chainId, [call], foreignFrame)
    return isAccepted(answer)
  },
  (effect, chainId) => Effect.mapError(effect, unavailable(chainId))
)

/** The answer of the owner's contract to the signature of an authorization or a revocation. */
export const isSignedByContract = Effect.fnUntraced(function* (signed: OwnerDigest, signature: string) {
  const bytes = ownerSignature("ERC1271", signature)
  if (bytes === undefined) return false
  return yield* standsBy(signed.chains[0].chainId, signed.ownerAccountId, {
    digest: contractOwnerDigest(signed),
    signature: bytes
  })
})
