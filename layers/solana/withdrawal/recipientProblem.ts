/**
 * Recipients on Solana that could lose what they receive: tokens go to an account that is derived from the recipient,
 * and only a wallet can move them from there.
 */
import { PublicKey, SystemProgram } from "@solana/web3.js"
import { Effect, Option } from "effect"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"

/** The end of a sentence about the recipient; none where nothing is known against it. */
export const recipientProblem = Effect.fnUntraced(function* (recipient: PublicKey) {
  const rpc = yield* SolanaRpc
  const { values } = yield* rpc.accounts([recipient])
  return Option.match(values[0]!, {
    onNone: () =>
      PublicKey.isOnCurve(recipient.toBytes())
        ? Option.none<string>()
        : Option.some("is an address that no key can have, and the chain has no account there"),
    onSome: ({ owner }) =>
      owner.equals(SystemProgram.programId)
        ? Option.none<string>()
        : Option.some("is an account of a program and not a wallet; name its owner")
  })
})
