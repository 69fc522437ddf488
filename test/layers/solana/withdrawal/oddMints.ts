/** Mints of Token-2022 with one extension each, of which anybody may come to hold tokens. */
import {
  AccountState,
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeDefaultAccountStateInstruction,
  createInitializeInterestBearingMintInstruction,
  createInitializeMint2Instruction,
  createInitializePausableConfigInstruction,
  createInitializeScaledUiAmountConfigInstruction,
  createInitializeTransferFeeConfigInstruction,
  createInitializeTransferHookInstruction,
  createMintToCheckedInstruction,
  createThawAccountInstruction,
  ExtensionType,
  getExtraAccountMetaAddress,
  getMintLen,
  TOKEN_2022_PROGRAM_ID
} from "@solana/spl-token"
import {
  ComputeBudgetProgram,
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction
} from "@solana/web3.js"
import { spl, type SplAssetId } from "#domain/values/Caip.ts"
import type { Ledger } from "#sandbox/solana/Ledger.ts"
import { associatedAccount } from "#layers/solana/token/programs.ts"
import { issuer } from "#sandbox/solana/market/issuer.ts"

const program = TOKEN_2022_PROGRAM_ID
const decimals = 6

/** A program of the chain itself that does nothing when it is called, whatever accounts it is given. */
const hookProgram = ComputeBudgetProgram.programId

export const odd = {
  "a transfer fee of one percent": [
    ExtensionType.TransferFeeConfig,
    (mint) => createInitializeTransferFeeConfigInstruction(mint, issuer, issuer, 100, 1_000n, program)
  ],
  "a transfer fee of zero": [
    ExtensionType.TransferFeeConfig,
    (mint) => createInitializeTransferFeeConfigInstruction(mint, issuer, issuer, 0, 0n, program)
  ],
  "a transfer hook": [
    ExtensionType.TransferHook,
    (mint) => createInitializeTransferHookInstruction(mint, issuer, hookProgram, program)
  ],
  interest: [
    ExtensionType.InterestBearingConfig,
    (mint) => createInitializeInterestBearingMintInstruction(mint, issuer, 500, program)
  ],
  "a multiplier": [
    ExtensionType.ScaledUiAmountConfig,
    (mint) => createInitializeScaledUiAmountConfigInstruction(mint, issuer, 2, program)
  ],
  "a pause": [ExtensionType.PausableConfig, (mint) => createInitializePausableConfigInstruction(mint, issuer, program)],
  "accounts that start frozen": [
    ExtensionType.DefaultAccountState,
    (mint) => createInitializeDefaultAccountStateInstruction(mint, AccountState.Frozen, program)
  ]
} as const satisfies Readonly<Record<string, readonly [ExtensionType, (mint: PublicKey) => TransactionInstruction]>>

export type Oddity = keyof typeof odd

/** The accounts that a hook's program wants: one, named by its address. */
const hookAccounts = (wanted: PublicKey): Uint8Array => {
  const data = Buffer.alloc(8 + 4 + 4 + 35)
  Buffer.from([105, 37, 101, 197, 75, 251, 102, 26]).copy(data)
  data.writeUInt32LE(4 + 35, 8)
  data.writeUInt32LE(1, 12)
  wanted.toBuffer().copy(data, 17)
  return Uint8Array.from(data)
}

export interface OddToken {
  readonly mint: PublicKey
  readonly assetId: SplAssetId
  readonly accountOf: (owner: PublicKey) => PublicKey
}

/** Makes the mint, and gives the owner 12 raw units of it. */
export const issueOdd = (ledger: Ledger, oddity: Oddity, owner: PublicKey): OddToken => {
  const mint = Keypair.generate().publicKey
  const [extension, initialize] = odd[oddity]
  const space = getMintLen([extension])
  const accountOf = (holder: PublicKey) => associatedAccount(holder, mint, program)
  const account = accountOf(owner)
  ledger.operate(issuer, [
    SystemProgram.createAccount({
      fromPubkey: issuer,
      newAccountPubkey: mint,
      lamports: Number(ledger.rentOf(space)),
      space,
      programId: program
    }),
    initialize(mint),
    createInitializeMint2Instruction(mint, decimals, issuer, issuer, program),
    createAssociatedTokenAccountIdempotentInstruction(issuer, account, owner, mint, program)
  ])
  if (oddity === "accounts that start frozen") thaw(ledger, mint, account)
  if (oddity === "a transfer hook") {
    ledger.setAccount({
      key: getExtraAccountMetaAddress(mint, hookProgram),
      data: hookAccounts(Keypair.generate().publicKey),
      executable: false,
      lamports: 10_000_000n,
      owner: hookProgram.toBase58()
    })
  }
  ledger.operate(issuer, [createMintToCheckedInstruction(mint, account, issuer, 12n, decimals, [], program)])
  return { mint, assetId: spl(mint.toBase58()), accountOf }
}

export const thaw = (ledger: Ledger, mint: PublicKey, account: PublicKey) =>
  ledger.operate(issuer, [createThawAccountInstruction(account, mint, issuer, [], program)])
