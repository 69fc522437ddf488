/**
 * Why an enrollment on Solana does not go on. All of them change nothing; the first two are answered by a new
 * stage 1.
 */
import { Schema } from "effect"

/** The blockhash or the signature's slot is too old. */
export class EnrollmentExpired extends Schema.TaggedError<EnrollmentExpired>()("EnrollmentExpired", {
  message: Schema.String
}) {}

/** The wallet is not as it was at stage 1: another enrollment took the role, or another signature was counted. */
export class EnrollmentOvertaken extends Schema.TaggedError<EnrollmentOvertaken>()("EnrollmentOvertaken", {
  message: Schema.String
}) {}

/** What the owner sent is not what stage 1 issued, or the owner did not sign it. `field`: of the request. */
export class OwnerSignatureRefused extends Schema.TaggedError<OwnerSignatureRefused>()("OwnerSignatureRefused", {
  field: Schema.Literals(["signedSolanaTransaction", "userSecp256k1PublicKey", "signature", "currentSlot"]),
  message: Schema.String
}) {}

/** All wallets that the service makes for one owner and tenant are full. */
export class WalletsExhausted extends Schema.TaggedError<WalletsExhausted>()("WalletsExhausted", {
  wallets: Schema.Int
}) {
  override get message() {
    return `All ${this.wallets} Solana wallets of this owner have as many portfolios as the owner can withdraw from`
  }
}
