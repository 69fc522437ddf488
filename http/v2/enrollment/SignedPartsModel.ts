/**
 * The parts from which the message of stage 1 is computed, so that the signer can compute it too and read what it
 * authorizes. An addition of ours to the interface.
 */
import { Schema } from "effect"
import { addressText, hexBytes, prose, SmartAccountIdText } from "#http/values/values.ts"

const chainId = Schema.Int.annotate({ description: "The chain.", examples: [8453] })
const hash = `0x${"5f".repeat(32)}`

const addresses = (description: string) => Schema.Array(addressText("An address.")).annotate({ description })

const basisPoints = (description: string) =>
  Schema.Int.annotate({ description: `${description} In basis points; 0: the guard's own.`, examples: [100] })

const unixSeconds = (description: string) =>
  Schema.Int.annotate({ description: `${description} UNIX seconds.`, examples: [1772444400] })

const Bridge = Schema.Struct({
  contract: addressText("The contract that receives the amount."),
  token: addressText("The one token that may leave."),
  destinations: Schema.Array(
    Schema.Struct({ chainId, token: addressText("Token as which it arrives.") }).annotate({
      identifier: "SignedDestination",
      description: "A chain to which the agent may send, always to the same account there."
    })
  ).annotate({ description: "Where it may go." })
}).annotate({ identifier: "SignedBridge", description: "What may leave the chain; left out: nothing." })

const Fee = Schema.Struct({
  recipient: addressText("Who is paid."),
  mostBps: Schema.Int.annotate({
    description: "Most that it may be, in basis points of what is bought.",
    examples: [25]
  })
}).annotate({
  identifier: "SignedFee",
  description: "A share of what every trade buys, which the guard pays within the trade; left out: none."
})

const Recipient = Schema.Struct({
  chainId: Schema.Int.annotate({ description: "Chain by its number in the guard's registry.", examples: [42161] }),
  account: hexBytes("Who receives it there.", 32, `0x${"5f".repeat(32)}`)
}).annotate({ identifier: "SignedRecipient", description: "Receiver of what is sent to one chain." })

const Guard = Schema.Struct({
  contract: addressText("The trade guard, through which everything goes."),
  issuedAt: unixSeconds("Time at which the permission was issued."),
  validUntil: unixSeconds("The last second at which it holds."),
  tradeBps: basisPoints("Most that one trade may lose against reference prices."),
  budgetBps: basisPoints("Most that all trades of seven days may lose."),
  closedTokens: Schema.optionalKey(
    addresses("The only tokens that the agent may buy; left out: those of the guard's registry.")
  ),
  integratorFee: Schema.optionalKey(Fee),
  serviceFee: Schema.optionalKey(Fee),
  recipients: Schema.optionalKey(
    Schema.Array(Recipient).annotate({
      description: "Receivers on other chains; on the others it is the account at the same address."
    })
  )
}).annotate({
  identifier: "SignedGuard",
  description:
    "The guard's terms. Where it is present, the other fields of the policy are rules of the service, and not part of what is signed."
})

const Policy = Schema.Struct({
  router: addressText("The exchange's router."),
  connectorTokens: addresses("Tokens through which a swap of two hops may pass."),
  tokens: addresses("Tokens that a swap may end in."),
  routedSwap: Schema.optionalKey(addressText("The contract that swaps over a provider's routes.")),
  bridge: Schema.optionalKey(Bridge),
  guard: Schema.optionalKey(Guard)
}).annotate({ identifier: "SignedPolicy", description: "What the agent may call." })

const Chain = Schema.Struct({
  chainId,
  accountId: SmartAccountIdText,
  permissionId: hexBytes("Four bytes that name the permission on the chain.", 4, "0x5f16f4c7"),
  enableNonce: Schema.Int.annotate({ description: "The account's nonce for new permissions.", examples: [1] }),
  policy: Policy,
  permissionHash: hexBytes("Keccak-256 of policy and agent, as the account will store them.", 32, hash),
  digest: hexBytes("EIP-712 digest of the account's `Enable` message.", 32, hash)
}).annotate({ identifier: "SignedChain", description: "What is authorized on one chain." })

export const SignedParts = Schema.Struct({
  withdrawalDomainName: Schema.NullOr(
    prose("Name of the EIP-712 domain of withdrawals.", 256, "Ballast Withdrawal Authorization")
  ).annotate({
    description: "The account's address is derived from it; null for accounts that are older than withdrawals.",
    examples: ["Ballast Withdrawal Authorization"]
  }),
  root: hexBytes("Merkle root over the digests; of one chain its digest.", 32, hash),
  chains: Schema.Array(Chain).annotate({ description: "One entry a chain." })
}).annotate({
  identifier: "SignedParts",
  description:
    "What the message is computed from, for the signer: `ballast/signing` computes it again and describes what is authorized."
})
export type SignedParts = typeof SignedParts.Type
