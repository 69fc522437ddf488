/** A program that no installation of the product can load. */
import "vitest"
