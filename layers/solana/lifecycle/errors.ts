/** Why a planned transaction is not made, or did not land. */
import { Schema } from "effect"

/** The transaction fails in simulation. Nothing was signed. */
export class SimulationFailed extends Schema.TaggedError<SimulationFailed>()("SimulationFailed", {
  /** The program's error, such as `{"InstructionError":[0,{"Custom":38}]}`. */
  error: Schema.Unknown,
  logs: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The transaction would fail on Solana with ${JSON.stringify(this.error)}; nothing was signed`
  }
}

export const transactionBytesLimit = 1_232
export const transactionAccountsLimit = 64

/** More bytes or accounts than a Solana transaction may have. Nothing was signed. */
export class TransactionDoesNotFit extends Schema.TaggedError<TransactionDoesNotFit>()("TransactionDoesNotFit", {
  /** Null where it could not even be written down. */
  bytes: Schema.NullOr(Schema.Int),
  accounts: Schema.Int
}) {
  override get message() {
    const size = this.bytes === null ? `more than ${transactionBytesLimit}` : String(this.bytes)
    return (
      `The transaction has ${size} bytes and ${this.accounts} accounts; Solana takes ${transactionBytesLimit} and ` +
      `${transactionAccountsLimit}. Do less in one transaction, or request a route over fewer accounts`
    )
  }
}

/** Its outcome is not known yet. Nothing else is signed for the operation until it is; go on with the same attempt. */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  signature: Schema.String
}) {
  override get message() {
    return `What became of the Solana transaction ${this.signature} is not known yet; it is read again`
  }
}

/** Every attempt expired unseen. None of them can land any more. */
export class AttemptsExpired extends Schema.TaggedError<AttemptsExpired>()("AttemptsExpired", {
  attempts: Schema.Int
}) {
  override get message() {
    return (
      `${this.attempts} attempts expired before any block took them, and none can land any more. ` +
      "Solana may be congested: raise the cap of priority fees, or try again later"
    )
  }
}
