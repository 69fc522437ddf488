/**
 * litesvm's numbers of errors as the names that a node answers. The package has them as `const enum`, of which
 * nothing is left
 * at run time. Source: litesvm 1.5.0, `dist/internal.d.ts`.
 */
import type { FailedTransactionMetadata } from "litesvm"

const instructionErrors =
  `GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds
IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction
ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified
DuplicateAccountIndex ExecutableModified RentEpochModified
NotEnoughAccountKeys AccountDataSizeChanged AccountNotExecutable
AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError ExecutableDataModified
ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId
CallDepth MissingAccount ReentrancyNotAllowed
MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded PrivilegeEscalation
ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable IncorrectAuthority
AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner
MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded
BuiltinProgramsMustConsumeComputeUnits BorshIoError`.split(/\s+/)

const transactionErrors =
  `AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee
AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure
InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit
UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit
WouldExceedAccountDataBlockLimit TooManyAccountLocks
AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex
InvalidRentPayingAccount WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded
ResanitizationNeeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction ProgramCacheHitMaxLimit
CommitCancelled`.split(/\s+/)

/** What an instruction failed with: a name, or the program's own number. */
export type InstructionError = string | { readonly Custom: number }

/** What a transaction failed with, as JSON-RPC shows it. */
export type TransactionError =
  | string
  | { readonly InstructionError: readonly [index: number, error: InstructionError] }
  | { readonly [name: string]: unknown }

/** The error of a transaction that litesvm refused. */
export const transactionError = (failed: FailedTransactionMetadata): TransactionError => {
  const error = failed.err()
  if (typeof error === "number") return transactionErrors[error]!
  const name = error.constructor.name.replace("TransactionError", "")
  if ("accountIndex" in error) return { [name]: { account_index: error.accountIndex } }
  if (!("err" in error)) return { [name]: error.index }
  const inner = error.err()
  if (typeof inner === "number") return { InstructionError: [error.index, instructionErrors[inner]!] }
  return { InstructionError: [error.index, "code" in inner ? { Custom: inner.code } : "BorshIoError"] }
}

/**
 * Only these reach a block and cost the fee. All others mean that the transaction never lands, and a node that is
 * asked about it
 * knows nothing.
 */
export const landsWith = (error: TransactionError): boolean =>
  typeof error === "object" && ("InstructionError" in error || "InsufficientFundsForRent" in error)
