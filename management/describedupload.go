package management

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"path"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/openapi"
)

// The media types of uploads of several files.
const (
	typeZip       = "application/zip"
	typeOldZip    = "application/x-zip-compressed"
	typeMultipart = "multipart/form-data"
	typeBytes     = "application/octet-stream"
)

// describedTypes are the media types of OpenAPI documents alone.
func describedTypes() []string {
	return []string{
		"application/openapi+json", "application/openapi+yaml", "application/vnd.oai.openapi", "application/vnd.oai.openapi+json", "application/vnd.oai.openapi+yaml",
	}
}

// maxUploadParts bounds the files of one upload.
const maxUploadParts = 1000

// readDocument reads a body that is an OpenAPI document (rules M-165 and M-168): JSON, YAML, or an upload of several files,
// whose first one root names.
func (c *call) readDocument(root string) (catalog.DocumentText, *openapi.Source, error) {
	body, err := c.read(append([]string{typeJSON, typeYAML, typeZip, typeOldZip, typeMultipart, typeBytes}, describedTypes()...)...)
	if err != nil {
		return catalog.DocumentText{}, nil, err
	}
	files, err := c.uploaded(body.text)
	if err != nil {
		return catalog.DocumentText{}, nil, err
	}
	if sent := files.Text(); sent != nil && (root == "" || files[root] != nil) {
		body.text = sent
	} else if files != nil {
		c.body = content{}
		return bundledText(files, root)
	}
	c.body = content{text: body.text, format: formatOf(body.text)}
	return documentText(body.text)
}

// uploaded are the files of a body that is an upload, nil for any other.
func (c *call) uploaded(body []byte) (openapi.Files, error) {
	// A type that cannot be read was refused before.
	kind, parameters, _ := mime.ParseMediaType(c.Request().Header.Get("Content-Type"))
	switch kind {
	case typeZip, typeOldZip:
		return openapi.Unzip(body) //nolint:wrapcheck // it is for the caller as it is
	case typeMultipart:
		return readParts(body, parameters["boundary"])
	default:
		return nil, nil
	}
}

// readParts reads the files of a form. A file is called as the form says, with its folders; an archive gives its own files.
func readParts(body []byte, boundary string) (openapi.Files, error) {
	files := openapi.Files{}
	err := eachPart(body, boundary, func(part *multipart.Part, disposition map[string]string) error {
		if disposition["filename"] == "" {
			return nil
		}
		name := path.Clean(disposition["filename"])
		text, err := readPart(part, name)
		if err != nil {
			return err
		}
		if len(files) == maxUploadParts {
			return mockbase.Errorf(mockbase.CodeValidationFailed, "the form has more than %d files", maxUploadParts)
		}
		if _, twice := files[name]; twice {
			return mockbase.Errorf(mockbase.CodeValidationFailed, "the form has the file %s twice; say folders in filename", shown(name))
		}
		files[name] = text
		return nil
	})
	if err != nil {
		return nil, err
	}
	return unpackedFiles(files)
}

// eachPart goes through the parts of a form with the parameters of their Content-Disposition, none where it cannot be read.
func eachPart(body []byte, boundary string, take func(part *multipart.Part, disposition map[string]string) error) error {
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return mockbase.Errorf(mockbase.CodeMalformedBody, "the form cannot be read: %s", err.Error())
		}
		_, disposition, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil {
			disposition = nil
		}
		if err := take(part, disposition); err != nil {
			return err
		}
	}
}

// readPart reads the file of a part.
func readPart(part *multipart.Part, name string) ([]byte, error) {
	text, err := io.ReadAll(part)
	if err != nil {
		return nil, mockbase.Errorf(mockbase.CodeMalformedBody, "the file %s cannot be read: %s", shown(name), err.Error())
	}
	return text, nil
}

// unpackedFiles are the files of a form, or of the archive that is its only file.
func unpackedFiles(files openapi.Files) (openapi.Files, error) {
	if len(files) == 0 {
		return nil, mockbase.Errorf(mockbase.CodeMalformedBody, "the form has no file: send parts with a filename")
	}
	if only := files.Text(); bytes.HasPrefix(only, []byte("PK\x03\x04")) {
		return openapi.Unzip(only) //nolint:wrapcheck // it is for the caller as it is
	}
	return files, nil
}

// bundledText is what is kept of an upload of several files: one document that holds them all.
func bundledText(files openapi.Files, root string) (catalog.DocumentText, *openapi.Source, error) {
	source, err := files.Bundle(root)
	if err != nil {
		return catalog.DocumentText{}, nil, err //nolint:wrapcheck // it is for the caller as it is
	}
	packed, err := files.Packed(source)
	if err != nil {
		return catalog.DocumentText{}, nil, err //nolint:wrapcheck // it is for the caller as it is
	}
	if packed == nil {
		return documentText(files[source.Name()])
	}
	text, _, err := documentText(source.JSON())
	text.Files = packed
	return text, source, err
}

// documentText is what is kept of an OpenAPI document.
func documentText(sent []byte) (catalog.DocumentText, *openapi.Source, error) {
	parsed, err := openapi.Parse(sent)
	if err != nil {
		return catalog.DocumentText{}, nil, err //nolint:wrapcheck // it is for the caller as it is
	}
	repaired := parsed.JSON()
	// A definition may be less deep than a document alone.
	if _, err := mockbase.ParseNode(repaired, mockbase.FormatJSON, mockbase.ParseLimits{}); err != nil {
		return catalog.DocumentText{}, nil, err
	}
	return catalog.DocumentText{Text: sent, JSON: repaired}, parsed, nil
}
