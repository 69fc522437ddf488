/** Programs and accounts of the chain itself that tokens need. */
import { TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from "@solana/spl-token"
import { PublicKey } from "@solana/web3.js"

/** Programs that keep tokens: a mint belongs to one of them, and so do its accounts. */
export const tokenPrograms: ReadonlyArray<PublicKey> = [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]

export const isTokenProgram = (program: PublicKey): boolean => tokenPrograms.some((one) => one.equals(program))

export const associatedTokenProgram = new PublicKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")

/**
 * The address of an owner's first account of a mint. It depends on the mint's token program: with the wrong one it is
 * another address, at which nothing ever is.
 */
export const associatedAccount = (owner: PublicKey, mint: PublicKey, tokenProgram: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync([owner.toBytes(), tokenProgram.toBytes(), mint.toBytes()], associatedTokenProgram)[0]
