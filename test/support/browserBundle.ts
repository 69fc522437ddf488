/** An entry of the client as a page loads it: one script that leaves `Ballast` behind, or a module. */
import { join } from "node:path"
import { rolldown } from "rolldown"

export interface Bundle {
  readonly code: string
  /** Modules that the script does not bring along: whatever it still asks its platform for. */
  readonly external: ReadonlyArray<string>
  readonly modules: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

/**
 * Bundles a file of this project for browsers, with nothing left out and nothing put in for what browsers do not have.
 */
export const bundleForBrowsers = async (file: string, format: "iife" | "esm" = "iife"): Promise<Bundle> => {
  const warnings: Array<string> = []
  const build = await rolldown({
    input: join(import.meta.dirname, "../..", file),
    platform: "browser",
    onLog: (_level, { message }) => warnings.push(message)
  })
  const { output } = await build.generate({ format, name: "Ballast", minify: true })
  await build.close()
  const [chunk] = output
  return {
    code: chunk.code,
    external: [...chunk.imports, ...chunk.dynamicImports],
    modules: Object.keys(chunk.modules),
    warnings
  }
}
