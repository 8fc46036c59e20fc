/** Owns the command's way to the question which known word a person meant. */
export { distanceOf, nearest } from '../distance.ts'
