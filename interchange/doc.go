// Package interchange translates the files of other mock tools into definitions, and projects into files that others read.
//
// # Importing
//
// [Import] reads what one person hands in at a time, a file, an archive or a folder, finds out which tool wrote it, and
// returns a [Result]: a definition in MockBase's own format and a warning for everything that has no equivalent there. It
// is pure: it opens nothing, calls nothing and keeps nothing.
//
// # The contract of a translation
//
// Each format is one function of the type translation, in files named after the tool, and one row in formats. It walks the
// source with [value] and [object] and adds mocks to an [output]. Four rules hold for all of them:
//
//   - Nothing is dropped in silence. An object is read by name and ends with done, which warns of every member that was
//     never asked for; a member that means nothing for answers is named to skip.
//   - One entry never spoils the others. An entry that cannot be translated becomes a warning with its pointer and line in
//     the source, and so does a mock that the decoder of definitions refuses.
//   - Nothing that cannot be built becomes more general. A condition without equivalent is handed to
//     [mock.unmet], which imports the mock disabled: it is there to be mended and answers nothing until then.
//   - Texts are templates only where they were in the source and could be translated; what could not stays visible in the
//     answer as it was written, and a warning names it.
//
// # Exporting
//
// Exports are functions from a snapshot to bytes and warnings, in files named export*.go.
package interchange
